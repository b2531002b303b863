"""Small projects of ARX, made here."""

import io
import zipfile
from collections.abc import Iterable, Mapping
from xml.sax.saxutils import escape

TABLE = """name;age;sex;ill
Ana;31;F;flu
Bea;34;F;cold
Cyd;52;M;flu
Dan;57;M;cold
"""
AGE = "31;30-39;*\n34;30-39;*\n52;50-59;*\n57;50-59;*\n"
QUASI, SENSITIVE = "QUASI_IDENTIFYING_ATTRIBUTE", "SENSITIVE_ATTRIBUTE"
PROJECT = "<project><name>Small</name><separator>;</separator></project>"
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "name": {"type": "IDENTIFYING_ATTRIBUTE"},
    "age": {"type": QUASI, "ref": "hierarchies/age.csv"},
    "sex": {"type": QUASI, "ref": "hierarchies/sex.csv"},
    "ill": {"type": SENSITIVE},
}


def write_definition(columns: Mapping[str, Mapping[str, str]]) -> str:
    parts = []
    for name, fields in columns.items():
        content = {"name": name, "datatype": "String", "min": "All", "max": "All", **fields}
        parts.append("".join(f"<{key}>{text}</{key}>" for key, text in content.items()))
    # ARX writes the word so.
    inside = "".join(f"<assigment>{part}</assigment>" for part in parts)
    return f"<definition>{inside}</definition>"


def write_configuration(
    criteria: Iterable[str] = ("2-anonymity",),
    limit: float = 0,
    metric: str = "Loss (0.5/1.0/1.0)",
    weights: Mapping[str, float] | None = None,
) -> str:
    given = "".join(f"<criterion>{escape(text)}</criterion>" for text in criteria)
    heavy = "".join(
        f"<attributeWeight><attribute>{name}</attribute><weight>{weight}</weight></attributeWeight>"
        for name, weight in (weights or {}).items()
    )
    return (
        f"<config><relativeMaxOutliers>{limit}</relativeMaxOutliers><metric>{metric}</metric>"
        f"<attributeWeights>{heavy}</attributeWeights><criteria>{given}</criteria></config>"
    )


def make_deid(
    members: Mapping[str, str | bytes | None] | None = None,
    columns: Mapping[str, Mapping[str, str]] = COLUMNS,
    **configuration,
) -> bytes:
    """A project; members with None are left out."""
    content: dict[str, str | bytes | None] = {
        "metadata.xml": "<metadata><version>3.9.1</version></metadata>",
        "project.xml": PROJECT,
        "data/input.csv": TABLE,
        "input/definition.xml": write_definition(columns),
        "input/config.xml": write_configuration(**configuration),
        "input/hierarchies/age.csv": AGE,
        "input/hierarchies/sex.csv": "F;*\nM;*\n",
        **(members or {}),
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            if data is not None:
                archive.writestr(name, data)
    return out.getvalue()
