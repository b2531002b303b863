"""Sentences for what goes wrong in Spark. Its own messages may quote cells."""

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
    "An executor of Spark cannot import kanon: install the same version of it on every node, for "
    "the Python that PYSPARK_PYTHON names."
)

LOST = (
    "The connection to Spark was lost while it worked on {name} (its Java may have had too little "
    "memory: spark.driver.memory): open the table again."
)

_MORE_MEMORY = (
    "give executors more (spark.executor.memory for Java, spark.executor.pyspark.memory or "
    "spark.executor.memoryOverhead for Python; spark.driver.memory where KANON_SPARK is local), "
    "fewer cores each (spark.executor.cores), or the table more and smaller parts."
)

_SENTENCES: Mapping[str, str] = {
    r"MALFORMED|Malformed": "{name} has a line that does not fit its header.",
    r"No space left": (
        "A disk is full, that of the release or the one that Spark keeps its own files on "
        "(spark.local.dir): nothing was written under the final name."
    ),
    r"maxResultSize": (
        "What comes back from Spark for {name} is more than it may be: set "
        "spark.driver.maxResultSize and spark.driver.memory higher."
    ),
    r"No module named '(kanon|pyarrow|numpy|pandas)": NO_KANON,
    r"PYTHON_VERSION_MISMATCH": (
        "Executors of Spark have another version of Python: let PYSPARK_PYTHON name the same one "
        "on every node."
    ),
    r"Cannot run program": (
        "An executor of Spark finds no Python where it is here: let PYSPARK_PYTHON name one that "
        "every node has."
    ),
    r"MemoryError|OutOfMemoryError|exceeding memory": (
        "An executor had no memory left: " + _MORE_MEMORY
    ),
    r"Python worker exited unexpectedly|ExecutorLostFailure|crashed": (
        "Executors were lost too often, as they are when memory runs out: " + _MORE_MEMORY
    ),
    r"Connection refused|Connection reset|not connected|stopped|shut down|Answer": LOST,
    r"FILE_NOT_EXIST|FileNotFoundException": (
        "A node of Spark does not find a file of {name}: every node has to see it under the same "
        "path."
    ),
    r"CANNOT_READ_FILE_FOOTER|is not a Parquet file": (
        "{name} cannot be read as Parquet: it is damaged or another kind of file."
    ),
    r"PARQUET_COLUMN|CAST_INVALID|CANNOT_MERGE": (
        "A column of {name} changes its type: every file has to have the same type."
    ),
}


def sentence(name: str, message: str) -> str | None:
    raised = re.search(r"^kanon\.errors\.(\w+): (.+)$", message, re.MULTILINE)
    kind = getattr(errors, raised[1], None) if raised else None
    if raised and isinstance(kind, type) and issubclass(kind, errors.KanonError):
        raise kind(raised[2]) from None
    return find_sentence(_SENTENCES, message, name)
