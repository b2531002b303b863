"""The command line, ``kanon`` or ``python -m kanon``: the dashboard's plans run here unchanged."""

import sys


def main() -> int:
    try:
        from kanon.cli.signals import raise_signals

        raise_signals()
        _prepare_process()
        from kanon.cli.main import main as command_line

        return command_line()
    except KeyboardInterrupt:  # before the command began
        from kanon.cli.signals import get_stop_status

        print("Interrupted; nothing was written.", file=sys.stderr)
        return get_stop_status()


def _prepare_process() -> None:
    import atexit
    import gc
    import io
    import os

    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:  # closed: the first opened file, such as a release, would get its number
            os.open(os.devnull, os.O_RDONLY)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))
    for stream in (sys.stdout, sys.stderr):  # a console may lack a character: ?, not an error
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    # Imports are not garbage: collecting takes 0.2 s while they grow, and 0.4 s at the end.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)


if __name__ == "__main__":
    sys.exit(main())
