"""``app``: serve the dashboard on this machine, until Ctrl-C."""

import argparse
import socket
import subprocess
import sys

from kanon.base.own_files import find_own_file
from kanon.errors import SettingsError

_HERE = "127.0.0.1"
_LAST_PORT = 65_535


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=int, default=8501, metavar="N",
        help=f"the dashboard answers at http://{_HERE}:N (8501)",
    )  # fmt: skip


def execute(args: argparse.Namespace) -> None:
    _check_port(args.port)
    app = find_own_file("app.py")
    command = [sys.executable, "-m", "streamlit", "run", str(app), "--server.port", str(args.port)]
    # Streamlit also reads .streamlit/ of the current folder, which may not be trusted.
    with subprocess.Popen(command, cwd=app.parent) as server:
        try:
            status = server.wait()
        except KeyboardInterrupt:
            server.terminate()  # a terminal stops it too; a signal to this process does not
            server.wait()
            status = 0
    if status:
        raise SettingsError(f"The dashboard ended with status {status}; its messages are above.")


def _check_port(port: int) -> None:
    if not 1 <= port <= _LAST_PORT:
        raise SettingsError(f"--port: {port} is not a port; choose one from 1 to {_LAST_PORT}.")
    try:
        socket.create_server((_HERE, port)).close()
    except OSError:
        raise SettingsError(
            f"--port: {port} is reserved, or taken by another program; choose one such as 8765."
        ) from None
