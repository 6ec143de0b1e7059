"""The program `hingenet`, also as `python -m hingenet`: it lives in the engine and needs no other package."""

import signal
import sys

from ._engine import run_program


def main() -> int:
    """Runs the command line of this process; gives the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the program has its own answer to Ctrl-C
    return run_program(["hingenet", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
