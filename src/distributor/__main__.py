"""``python -m distributor``."""

from __future__ import annotations

import sys

from distributor.cli.main import main as run_command_line
from distributor.cli.output import settle_stdout


def main() -> None:
    """Run the command line and exit with its code."""
    code = run_command_line(sys.argv[1:])
    settle_stdout()
    sys.exit(code)


if __name__ == "__main__":
    main()
