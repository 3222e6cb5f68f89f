"""Write the generated parts of the documents, or with --check say which are stale.

    python docs/generate [--check]

A generated part stands between `<!-- generated: NAME -->` and `<!-- end: NAME -->` and comes from the function of that
name in parts.py (`-` in NAME is `_` there). A whole generated file has its function's result and nothing else.
"""

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import parts

ROOT = Path(__file__).resolve().parents[2]
PART = re.compile(r"(<!-- generated: ([a-z-]+) -->\n).*?(<!-- end: \2 -->)", re.DOTALL)
WHOLE_FILES: dict[str, Callable[[], str]] = {".env.example": parts.env_example}


def filled(text: str) -> str:
    """The text with each of its generated parts written anew."""

    def fill(match: re.Match[str]) -> str:
        written = getattr(parts, match[2].replace("-", "_"))()
        return f"{match[1]}{written.strip()}\n{match[3]}"

    return PART.sub(fill, text)


def wanted() -> dict[Path, str]:
    """What each file with generated parts should hold."""
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    files = {path: filled(path.read_text("utf-8")) for path in documents}
    return files | {ROOT / name: write() for name, write in WHOLE_FILES.items()}


def main() -> int:
    """0 when all is fresh, or was written; 1 when --check found a stale file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is stale")
    check = parser.parse_args().check
    stale = {path: text for path, text in wanted().items() if not path.exists() or path.read_text("utf-8") != text}
    for path, text in stale.items():
        if check:
            print(f"{path.relative_to(ROOT)} is stale: run `make docs` and commit what it writes.", file=sys.stderr)
        else:
            path.write_text(text, "utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
