"""Sentences for errors of Spark, whose own messages may quote cells."""

import re
from collections.abc import Mapping

import ibis
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from kanon import errors
from kanon.base.data_files import read_data
from kanon.sources.engines.rows import find_sentence

SPARK_ERRORS = (
    PySparkException, Py4JError, OSError, ConnectionError, ibis.common.exceptions.IbisError,
)  # fmt: skip

_SENTENCES: Mapping[str, str] = read_data(__file__)

NO_KANON = _SENTENCES["No module named '(kanon|pyarrow|numpy|pandas)"]

LOST = _SENTENCES["Connection refused|Connection reset|not connected|stopped|shut down|Answer"]


def explain_spark_error(name: str, message: str) -> str | None:
    match = re.search(r"^kanon\.errors\.(\w+): (.+)$", message, re.MULTILINE)
    kind = getattr(errors, match[1], None) if match else None
    if match and isinstance(kind, type) and issubclass(kind, errors.KanonError):
        raise kind(match[2]) from None
    return find_sentence(_SENTENCES, message, name)
