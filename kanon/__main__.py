"""The command line: ``python -m kanon``. A plan that the dashboard saved runs here unchanged."""

import gc
import io
import sys

from kanon.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):  # a console may lack a sign; better a ? than an error
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    gc.set_threshold(100_000)  # imports leave much, and no garbage: looking for it took 0.2 s
    sys.exit(main())
