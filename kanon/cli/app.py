"""``app``: serve the dashboard on this machine, until Ctrl-C."""

import argparse
import socket
import subprocess
import sys

from kanon.base.own_files import own_file
from kanon.errors import SettingsError

_HERE = "127.0.0.1"
_LAST = 65_535


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=int, default=8501, metavar="N",
        help=f"the dashboard answers at http://{_HERE}:N (8501)",
    )  # fmt: skip


def execute(given: argparse.Namespace) -> None:
    _check(given.port)
    app = own_file("app.py")
    command = [sys.executable, "-m", "streamlit", "run", str(app), "--server.port", str(given.port)]
    # Streamlit also reads .streamlit/ of the current folder, and that may be anybody's.
    with subprocess.Popen(command, cwd=app.parent) as server:
        try:
            status = server.wait()
        except KeyboardInterrupt:
            server.terminate()  # a terminal has told it too; who sends a signal has not
            server.wait()
            status = 0
    if status:
        raise SettingsError(f"The dashboard ended with status {status}; what it said is above.")


def _check(port: int) -> None:
    if not 1 <= port <= _LAST:
        raise SettingsError(f"--port: {port} is no port; give a number from 1 to {_LAST}.")
    try:
        socket.create_server((_HERE, port)).close()
    except OSError:
        raise SettingsError(
            f"--port: {port} is taken by another program, or reserved; give another, such as 8765."
        ) from None
