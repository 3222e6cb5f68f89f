"""`python -m bench`: the measured claims, one after the other; `python -m bench hit` runs one."""

import runpy
import sys

BENCHES = ("hit", "lookup", "question")


def main() -> None:
    """Run the named benches, or all that need no data of their own."""
    for name in sys.argv[1:] or BENCHES:
        print(f"\n== {name}")
        runpy.run_module(f"bench.{name}", run_name="__main__")


if __name__ == "__main__":
    main()
