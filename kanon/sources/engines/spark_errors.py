"""Sentences for errors of Spark, whose own messages may quote cells."""

import re
from collections.abc import Mapping

import ibis
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from kanon import errors
from kanon.sources.engines.rows import find_sentence

SPARK_ERRORS = (
    PySparkException, Py4JError, OSError, ConnectionError, ibis.common.exceptions.IbisError,
)  # fmt: skip

NO_KANON = (
    "A Spark executor cannot import kanon: install the same version of it on every node, for "
    "the Python that PYSPARK_PYTHON names."
)

LOST = (
    "The connection to Spark was lost while it worked on {name} (its Java may have had too little "
    "memory: spark.driver.memory): open the table again."
)

_MORE_MEMORY = (
    "give executors more (spark.executor.memory for Java, spark.executor.pyspark.memory or "
    "spark.executor.memoryOverhead for Python; spark.driver.memory where KANON_SPARK is local), "
    "give each fewer cores (spark.executor.cores), or split the table into smaller parts."
)

_SENTENCES: Mapping[str, str] = {
    r"MALFORMED|Malformed": "{name} has a line that does not fit its header.",
    r"No space left": (
        "A disk is full: either the release's or the one with Spark's own files "
        "(spark.local.dir). Nothing was written under the final name."
    ),
    r"maxResultSize": (
        "Spark returns more for {name} than it is allowed to: set spark.driver.maxResultSize "
        "and spark.driver.memory higher."
    ),
    r"No module named '(kanon|pyarrow|numpy|pandas)": NO_KANON,
    r"PYTHON_VERSION_MISMATCH": (
        "Spark executors have another version of Python: set PYSPARK_PYTHON to the same version on "
        "every node."
    ),
    r"Cannot run program": (
        "A Spark executor cannot find Python at the path used here: set PYSPARK_PYTHON to a path "
        "that every node has."
    ),
    r"MemoryError|OutOfMemoryError|exceeding memory": (
        "An executor had no memory left: " + _MORE_MEMORY
    ),
    r"Python worker exited unexpectedly|ExecutorLostFailure|crashed": (
        "Executors were lost too often, as happens when memory runs out: " + _MORE_MEMORY
    ),
    r"Connection refused|Connection reset|not connected|stopped|shut down|Answer": LOST,
    r"FILE_NOT_EXIST|FileNotFoundException": (
        "A Spark node cannot find a file of {name}: every node must see it under the same path."
    ),
    r"CANNOT_READ_FILE_FOOTER|is not a Parquet file": (
        "{name} cannot be read as Parquet: it is damaged or another kind of file."
    ),
    r"PARQUET_COLUMN|CAST_INVALID|CANNOT_MERGE": (
        "A column of {name} changes its type: every file must have the same type."
    ),
}


def explain_spark_error(name: str, message: str) -> str | None:
    match = re.search(r"^kanon\.errors\.(\w+): (.+)$", message, re.MULTILINE)
    kind = getattr(errors, match[1], None) if match else None
    if match and isinstance(kind, type) and issubclass(kind, errors.KanonError):
        raise kind(match[2]) from None
    return find_sentence(_SENTENCES, message, name)
