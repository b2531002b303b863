"""Uploads: how large they may be, said beside the field, held by the server, kept in memory."""

from typing import Any, Literal

import streamlit as st
from starlette.formparsers import MultiPartParser
from streamlit import config

from kanon.settings import MEGABYTE, settings

Limit = Literal["upload_megabytes", "hierarchies_megabytes", "plan_megabytes"]


def upload_field(label: str, limit: Limit | int = "upload_megabytes", **how: Any) -> None:
    """A field for files of at most ``limit`` megabytes, a setting's name or a number."""
    _prepare_server()
    most = limit if isinstance(limit, int) else getattr(settings(), limit)
    st.file_uploader(label, max_upload_size=most, **how)


@st.cache_resource(show_spinner=False)
def _prepare_server() -> None:
    """Have the server take what a field allows, and write nothing of it to a disk."""
    given = settings()
    most = max(given.upload_megabytes, given.hierarchies_megabytes, given.plan_megabytes)
    config.set_option("server.maxUploadSize", most)
    MultiPartParser.spool_max_size = (most + 1) * MEGABYTE
