"""Install a wheel of qkva into a clean environment beside a host app, and use it there.

python tests/packaging/check_wheel.py WHEEL [PYTHON]
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOST_APP = Path(__file__).resolve().parent / "host_app"
KEPT = (
    "PATH",
    "HOME",
    "LANG",
    "TMPDIR",
    "PIP_CERT",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_CONFIG_FILE",
)
"""What the host's commands see: no setting of ours, and pip's own configuration."""
OUR_NAMES = "import importlib.metadata as m; print('\\n'.join(sorted({f.parts[0] for f in m.files('qkva')})))"
IMPORT_ALL = """
import importlib, pkgutil, qkva
for module in pkgutil.walk_packages(qkva.__path__, "qkva."):
    if not module.name.startswith("qkva.migrations"):  # Alembic runs those in a context of its own
        importlib.import_module(module.name)
"""
"""A package of the lock's dev group that the wheel needs would be missing here."""


def run(*command: str | Path, cwd: Path) -> str:
    """Run, and return what was printed; a failure shows all of it."""
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        text=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def pins(lock: Path) -> str:
    """The lock without its hashes: pip takes no hashes together with a wheel of ours that has none."""
    return "\n".join(line.rstrip(" \\") for line in lock.read_text("utf-8").splitlines() if not line.startswith(" "))


def check_wheel(wheel: Path, python: str) -> str:
    """What the host app printed. Exits with a message where something is wrong."""
    with tempfile.TemporaryDirectory(prefix="qkva wheel ") as name:
        place = Path(name)
        (place / "pins.txt").write_text(pins(ROOT / "requirements.lock"), "utf-8")
        run(python, "-m", "venv", "env", cwd=place)
        env = place / "env" / "bin"
        run(env / "python", "-m", "pip", "install", "-qq", "--constraint", "pins.txt", wheel.resolve(), cwd=place)

        ours = [
            part for part in run(env / "python", "-c", OUR_NAMES, cwd=place).split() if not part.endswith(".dist-info")
        ]
        if set(ours) - {".."} != {"qkva"}:  # ".." is bin/qkva
            sys.exit(f"the wheel puts {ours} into site-packages, and should put nothing but qkva there")

        run(env / "python", "-W", "error::SyntaxWarning", "-c", IMPORT_ALL, cwd=place)
        host = Path(shutil.copytree(HOST_APP, place / "host app"))
        return run(env / "qkva", "demo", cwd=host) + run(env / "python", "app.py", cwd=host)


if __name__ == "__main__":
    print(check_wheel(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else sys.executable))
