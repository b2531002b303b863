"""Internals of other packages that privacy depends on: without one of them no server starts.

The dashboard sets, replaces or trusts each. An update that renames one would go unnoticed.
"""

import atexit
import inspect
import tomllib
from collections.abc import AsyncGenerator, Callable, Mapping
from importlib.metadata import version

from starlette import requests
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartParser
from streamlit import config, error_util, net_util
from streamlit.elements import exception
from streamlit.runtime import memory_media_file_storage
from streamlit.starlette import App
from streamlit.web.server.starlette import starlette_routes

from kanon.base.own_files import find_own_file
from kanon.errors import SettingsError


def check_required_internals() -> None:
    """Raise SettingsError if one of the claims does not hold."""
    for claim, check in REQUIRED_INTERNALS.items():
        try:
            holds = check()
        except Exception:  # noqa: BLE001  whatever an unknown inside raises, it is not as it was
            holds = False
        if not holds:
            packages = ", ".join(f"{name} {version(name)}" for name in ("streamlit", "starlette"))
            raise SettingsError(
                "The dashboard does not start: privacy depends on the following, which is not "
                f"true of {packages}. {claim} Install the versions from constraints.txt."
            )


def _check_upload_memory() -> bool:
    limit = MultiPartParser.spool_max_size
    MultiPartParser.spool_max_size = 3 * limit
    parsing = MultiPartParser(_KIND, _yield_upload(b"x" * 2 * limit)).parse()
    try:
        parsing.send(None)
    except StopIteration as stop:  # in memory there is nothing to wait for
        with stop.value["f"].file as file:
            return file.name is None
    finally:
        MultiPartParser.spool_max_size = limit
        parsing.close()
    return False


_KIND = Headers({"content-type": "multipart/form-data; boundary=x"})


async def _yield_upload(content: bytes) -> AsyncGenerator[bytes, None]:
    head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
    yield head + content + b"\r\n--x--\r\n"


def _check_upload_parser() -> bool:
    parsed = ".form(" in inspect.getsource(starlette_routes.create_upload_routes)
    return parsed and vars(requests)["MultiPartParser"] is MultiPartParser


def _check_file_storage() -> bool:
    source = inspect.getsource(App._create_runtime)
    return "MemoryMediaFileStorage(" in source and "MemoryUploadedFileManager(" in source


def _check_addresses() -> bool:
    address = memory_media_file_storage._calculate_file_id
    return address(b"", "", "one") != address(b"", "", "other")


def _check_options() -> bool:
    """Whether Streamlit knows each option; it skips unknown ones with a warning."""
    with find_own_file(".streamlit", "config.toml").open("rb") as file:
        options = tomllib.load(file)
    for section in ("server", "browser", "client", "runner", "logger"):
        for name in options[section]:
            config.get_option(f"{section}.{name}")
    return True


REQUIRED_INTERNALS: Mapping[str, Callable[[], object]] = {
    "An upload within MultiPartParser.spool_max_size stays in memory.": _check_upload_memory,
    "Streamlit has MultiPartParser read its uploads.": _check_upload_parser,
    "Streamlit keeps uploads and downloads in memory.": _check_file_storage,
    "The address of a download depends on its name, which holds a secret.": _check_addresses,
    "Streamlit asks for this machine's outer address by net_util.get_external_ip, which is "
    "switched off.": lambda: callable(net_util.get_external_ip),
    "A page's text for an exception is elements.exception._GENERIC_UNCAUGHT_EXCEPTION_TEXT.": (
        lambda: isinstance(exception._GENERIC_UNCAUGHT_EXCEPTION_TEXT, str)
    ),
    "A console's text for an exception goes through error_util._print_rich_exception.": (
        lambda: callable(error_util._print_rich_exception)
    ),
    "Streamlit knows each option of .streamlit/config.toml.": _check_options,
    "Python's atexit._run_exitfuncs removes what an interrupted release left on a disk.": (
        lambda: callable(atexit._run_exitfuncs)
    ),
}
"""What has to be so, as a sentence, and whether it is; whatever raises is not so."""
