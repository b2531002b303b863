"""The command line, ``kanon`` or ``python -m kanon``: the dashboard's plans run here unchanged."""

import atexit
import gc
import io
import sys

from kanon.cli import main as command_line


def main() -> int:
    """Run the command that was typed; returns the exit status."""
    for stream in (sys.stdout, sys.stderr):  # a console may lack a sign; better a ? than an error
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    # What is imported is no garbage, and goes with the process: looking through it takes 0.2 s
    # while it grows, and 0.4 s at the end.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    return command_line.main()


if __name__ == "__main__":
    sys.exit(main())
