"""The command line, ``kanon`` or ``python -m kanon``: the dashboard's plans run here unchanged."""

import io
import sys

from kanon.cli import main as command_line


def main() -> int:
    """Run the command that was typed; returns the exit status."""
    for stream in (sys.stdout, sys.stderr):  # a console may lack a sign; better a ? than an error
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    return command_line.main()


if __name__ == "__main__":
    sys.exit(main())
