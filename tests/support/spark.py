"""Spark for tests: whether it is there, and how it starts quickly."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

from conftest import _absent

# A machine of Java that is there for half a minute compiles less of Spark, and no query.
SPARK = {
    "KANON_SPARK": "local[2]",
    "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "PYSPARK_SUBMIT_ARGS": "--conf spark.sql.codegen.wholeStage=false "
    "--conf spark.sql.codegen.factoryMode=NO_CODEGEN pyspark-shell",
}


def spark_is_there() -> bool:
    return bool(shutil.which("java") and find_spec("pyspark"))


def require_spark() -> None:
    """Skip a test, and say so, where Spark is not there."""
    if not spark_is_there():
        _absent("Java or pyspark is missing, which Spark needs")


@contextmanager
def quick_spark() -> Iterator[None]:
    """Let Spark start quickly within it."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SPARK.items():
            patch.setenv(name, value)
        yield
