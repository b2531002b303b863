"""The JSON schemas of docs/reference/schemas/, from the models that read the files.

`make schemas` writes them. That of measures is written by hand.
"""

import json
from typing import Any, Literal

from pydantic import BaseModel, create_model
from pydantic.json_schema import GenerateJsonSchema

import kanon.algorithms
from kanon.base.checked_json import Strict
from kanon.cards import parts_of
from kanon.charts.layout import _LayoutFile
from kanon.experiments.kept_comparisons import _KeptContent
from kanon.experiments.simulated.files import _StudyFile
from kanon.plan import Plan
from kanon.plan_parts import AlgorithmPlan, get_own_parameters
from kanon.release.context import Context
from kanon.report.changes import ReportRecord
from kanon.strategies import STRATEGIES
from kanon.teaching.exercises import Answers, ExerciseSet
from kanon.teaching.playlist import Playlist
from support.paths import ROOT

SCHEMAS = ROOT / "docs" / "reference" / "schemas"


class Generator(GenerateJsonSchema):
    """Schemas that allow no unknown key, as kanon does."""

    def model_schema(self, schema: Any) -> dict[str, Any]:
        content = super().model_schema(schema)
        if issubclass(schema["cls"], Strict):
            content["additionalProperties"] = False
        content["title"] = schema["cls"].__name__.lstrip("_")
        content.pop("description", None)  # which is about the class
        if schema["cls"] is AlgorithmPlan:
            add_choices(content["properties"])
        return content


def add_choices(properties: dict[str, Any]) -> None:
    """Name the algorithms, the strategies, and the own parameters of all algorithms."""
    algorithms = parts_of(kanon.algorithms)
    properties["name"]["enum"] = [*algorithms]
    properties["strategy"]["enum"] = [*STRATEGIES]
    for name in algorithms:
        for parameter in get_own_parameters(name):
            allowed = properties.setdefault(parameter.name, {"enum": []})["enum"]
            numbers = [int(choice) for choice in parameter.choices if choice.isdecimal()]
            allowed += [
                choice for choice in (*parameter.choices, *numbers) if choice not in allowed
            ]


def define_part(name: str, later: dict[str, Any] | None = None, **needed: Any) -> type[BaseModel]:
    """A part of a project file, which has no model in kanon; earlier versions lack ``later``."""
    fields = {key: (kind, ...) for key, kind in needed.items()}
    fields |= {key: (kind, None) for key, kind in (later or {}).items()}
    return create_model(name, __module__="project", **fields)


PROJECT = define_part(
    "Project",
    {
        "levels": dict[str, int],
        "comparisons": list[_KeptContent],
        "reports": list[ReportRecord],
        "words": dict[str, str],
        "context": Context,
    },
    project=Literal[1],
    plan=Plan,
    hierarchies=dict[str, define_part("HierarchyChoice", builder=str)],
    compared=dict[str, list[str] | bool],
    kept=list[define_part("Configuration", title=str, plan=Plan)],
)

# The models, and the keys that a file needs although the model has a default for them.
MODELS: dict[str, tuple[type[BaseModel], tuple[str, ...]]] = {
    "plan": (Plan, ()),
    "context": (Context, ("context",)),
    "exercises": (ExerciseSet, ("format",)),
    "answers": (Answers, ("format",)),
    "playlist": (Playlist, ()),
    "study": (_StudyFile, ()),
    "layout": (_LayoutFile, ()),
    "project": (PROJECT, ()),
}


def build_schemas() -> dict[str, dict[str, Any]]:
    schemas = {}
    for name, (model, needed) in MODELS.items():
        schema = model.model_json_schema(schema_generator=Generator)
        schema["required"] = list(dict.fromkeys([*needed, *schema.get("required", [])]))
        head = {"$schema": GenerateJsonSchema.schema_dialect, "title": f"A file of kanon: {name}"}
        schemas[name] = {**schema, **head}
    return schemas


if __name__ == "__main__":
    for name, schema in build_schemas().items():
        text = json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
        (SCHEMAS / f"{name}.json").write_text(text, "utf-8")
