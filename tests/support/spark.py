"""Spark for tests: whether it is there, and how it starts quickly."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

# A machine of Java that is there for half a minute compiles less of Spark, and no query.
SPARK = {
    "KANON_SPARK": "local[2]",
    "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "PYSPARK_SUBMIT_ARGS": "--conf spark.sql.codegen.wholeStage=false "
    "--conf spark.sql.codegen.factoryMode=NO_CODEGEN pyspark-shell",
}


def spark_is_there() -> bool:
    return bool(shutil.which("java") and find_spec("pyspark"))
