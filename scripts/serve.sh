#!/bin/sh
# Serve the graphs with LangGraph's development server: scripts/serve.sh [port]
#
# The server would take a random port without a word where the wished one is taken, so the port is chosen here.
set -eu
cd "$(dirname "$0")/.."

wished=${1:-2024}
bin=${VENV:-.venv}/bin
port=$("$bin/python" - "$wished" <<'PYTHON'
import socket
import sys

for port in (int(sys.argv[1]), 0):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        print(probe.getsockname()[1])
        break
PYTHON
)
[ "$port" = "$wished" ] || echo "Port $wished is taken by another process; using $port. (make dev PORT=… chooses one.)"

cat <<END
Serving qkva on http://127.0.0.1:$port — Ctrl-C ends it.
  Studio  https://smith.langchain.com/studio/?baseUrl=http://127.0.0.1:$port
  API     http://127.0.0.1:$port/docs
  MCP     http://127.0.0.1:$port/mcp
END

# Nothing is sent anywhere: no usage counts, no version check, no traces; unless the caller asked for traces.
export LANGGRAPH_CLI_NO_ANALYTICS=1 LANGGRAPH_NO_VERSION_CHECK=1 LANGSMITH_TRACING="${LANGSMITH_TRACING:-false}"
export LOG_LEVEL="${LOG_LEVEL:-WARNING}" LOG_COLOR="${LOG_COLOR:-false}"
exec "$bin/langgraph" dev --no-browser --port "$port" --n-jobs-per-worker 10
