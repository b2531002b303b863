"""Projects of ARX (``.deid``): their table, roles, hierarchies and settings, as a plan.

A ``.deid`` is a zip. Its XML and CSV are read, its serialised Java objects (``.dat``) never: what
stands only there, such as the records of a research subset, cannot be known and is named.
"""

import csv
import io
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import pandas as pd
from pydantic import ValidationError

from kanon.base.data_files import read_data
from kanon.base.formatting import join_words
from kanon.base.kinds import ColumnKind
from kanon.base.unzipping import TooLarge, TooMany, Unreadable, extract_members
from kanon.base.values import convert_to_text
from kanon.errors import (
    HierarchyError,
    KanonError,
    PlanError,
    TableError,
    list_names,
    quote,
)
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.files import HierarchyFile, parse_csv, text_of_file, to_nodes
from kanon.hierarchy.lines import write_tree_lines
from kanon.hierarchy.tree import ROOT_LABEL
from kanon.plan import VERSION, Plan
from kanon.privacy.plans import MODEL_PLANS
from kanon.schema import Role
from kanon.settings import describe_exceeded_limit, get_byte_limit
from kanon.sources.encodings import decode
from kanon.sources.opening import open_table
from kanon.sources.read_settings import ReadSettings
from kanon.sources.reading import TableFile

_PROJECT, _TABLE = "project.xml", "data/input.csv"
_DEFINITION, _CONFIGURATION = "input/definition.xml", "input/config.xml"
_FILES = (_PROJECT, _TABLE, _DEFINITION, _CONFIGURATION)

_DATA = read_data(__file__)

_NUMBER = r"([\d.]+(?:E-?\d+)?)"
_OF = r" for attribute '(?P<column>.*)'"


@dataclass(frozen=True, eq=False)
class ArxProject:
    """What a project of ARX holds, in kanon's terms."""

    file: TableFile  #: the table, read as ARX does: only blank cells are missing
    table: bytes  #: the CSV of the table, as it is in the project
    hierarchies: Mapping[str, Hierarchy]  #: of quasi-identifiers, and where a distance needs one
    plan: Plan  #: all settings that kanon has, with the hierarchies in it
    left_out: tuple[str, ...]  #: a sentence for each that kanon lacks or does otherwise


def read_arx_project(content: bytes, name: str) -> ArxProject:
    """Read the table, hierarchies and settings of a ``.deid``.

    Criteria of ARX become the models of the same name; δ of δ-disclosure is multiplied by ln 2, as
    ARX counts it in bits. A column without a readable hierarchy may only be suppressed. ARX never
    raises values above the last column of a hierarchy, so where that has several groups, a root is
    added and the level bounds exclude it.

    Raises
    ------
    TableError
        It is not a project, cannot be unpacked, is larger than the settings allow, or its XML is
        damaged or declares entities.
    PlanError
        Its settings do not fit together, for example a level above the top of a hierarchy.
    """
    members = _unpack(content, name)
    project, definition, configuration = (
        _parse_xml(members[file], file) for file in (_PROJECT, _DEFINITION, _CONFIGURATION)
    )
    separator = project.findtext("separator", ";")
    file = open_table(
        members[_TABLE],
        f"{PurePath(name).stem}.csv",
        ReadSettings(separator=separator, missing_markers=(), header=True),
    )
    reader = _Reader(configuration, members, separator)
    for assignment in definition:
        reader.read_column(assignment)
    either = {*reader.columns} ^ {*file.records.columns}
    if either:  # a column without a role would be released as it is
        raise TableError(
            f"The table and the roles in {quote(name)} are not about the same columns; only one of "
            f"them has {list_names(sorted(either))}."
        )
    plan = reader.build_plan(replace(file.settings, missing_markers=()))
    return ArxProject(file, members[_TABLE], reader.hierarchies, plan, tuple(reader.left_out))


def _unpack(content: bytes, name: str) -> dict[str, bytes]:
    most = get_byte_limit("unpacked_megabytes")
    try:
        members = dict(
            extract_members(
                content, most, 10_000,
                lambda member: member in _FILES or member.startswith("input/hierarchies/"),
            )
        )  # fmt: skip
    except TooLarge:
        finding = f"{quote(name)} unpacks to more"
        raise TableError(describe_exceeded_limit("unpacked_megabytes", finding)) from None
    except (TooMany, Unreadable):
        raise TableError(
            f"{quote(name)} cannot be unpacked: it is damaged, encrypted, not a zip file, or has "
            "more files than a project of ARX."
        ) from None
    lacking = [file for file in _FILES if file not in members]
    if lacking:
        raise TableError(f"{quote(name)} is not a project of ARX: it lacks {join_words(lacking)}.")
    return members


def _parse_xml(content: bytes, name: str) -> Element:
    if len(content) > get_byte_limit("plan_megabytes"):
        finding = f"{quote(name)} in the project is larger"
        raise TableError(describe_exceeded_limit("plan_megabytes", finding))

    def refuse_declaration(*_: object) -> None:
        raise TableError(f"{quote(name)} in the project declares a document type; ARX writes none.")

    text, _, _ = decode(content, name)  # ARX does not say in which encoding it writes
    builder, parser = TreeBuilder(), expat.ParserCreate("utf-8")
    parser.StartElementHandler, parser.EndElementHandler = builder.start, builder.end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse_declaration
    try:
        parser.Parse(text, True)
        return builder.close()
    except expat.ExpatError:
        raise TableError(f"{quote(name)} in the project is not valid XML.") from None


def _parse_number(element: Element, tag: str) -> float:
    text = element.findtext(tag, "0")
    try:
        return float(text)
    except ValueError:
        raise PlanError(f"{tag} in the project is {quote(text)}; it has to be a number.") from None


class _Reader:
    """Collects the parts of a plan, and the sentences about what has no part in it."""

    def __init__(self, config: Element, members: Mapping[str, bytes], separator: str) -> None:
        self.columns: dict[str, dict[str, Any]] = {}
        self.hierarchies: dict[str, Hierarchy] = {}
        self.left_out: list[str] = []
        self._kinds: dict[str, str] = {}
        self._config, self._members, self._separator = config, members, separator
        self._criteria = [
            (criterion.text or "").strip() for criterion in config.iterfind(".//criterion")
        ]

    def read_column(self, assignment: Element) -> None:
        column, kind = assignment.findtext("name", ""), assignment.findtext("type", "")
        if kind not in _DATA["roles"]:
            raise TableError(f"Column {quote(column)} has the unknown type {quote(kind)} in ARX.")
        part: dict[str, Any] = {"role": _DATA["roles"][kind]}
        self.columns[column] = part
        self._read_data_type(column, assignment)
        if assignment.findtext("response") == "true":
            self.left_out.append(
                f"{quote(column)} is a target variable in ARX; choose it on Utility, where "
                "learning is measured."
            )
        needs_tree = any(
            "hierarchical" in criterion and criterion.endswith(f"attribute '{column}'")
            for criterion in self._criteria
        )
        if part["role"] == Role.QUASI_IDENTIFIER:
            self._read_hierarchy(column, part, assignment)
            self._read_function(column, part, assignment)
        elif part["role"] == Role.SENSITIVE and needs_tree:
            file, _ = self._get_tree(column, assignment)
            if file is not None:
                part["hierarchy"] = {"nodes": to_nodes(file.hierarchy)}

    def build_plan(self, read: ReadSettings) -> Plan:
        privacy = self._build_models()
        limit = _parse_number(self._config, "relativeMaxOutliers")
        others = [part["model"] for part in privacy if part["model"] != "k-anonymity"]
        if others and limit > 0:
            self.left_out.append(
                f"ARX may suppress {limit:.12g} of the records; the plan suppresses none, because "
                f"its search meets {list_names(dict.fromkeys(others))} only without suppression."
            )
            limit = 0.0
        if not privacy:
            self.left_out.append(
                "No criterion of the project has a model in kanon, so the plan asks for "
                "2-anonymity alone; choose what you need."
            )
            privacy = [{"model": "k-anonymity", "k": 2}]
        content = {
            "version": VERSION,
            "columns": self.columns,
            "read": {
                "separator": read.separator,
                "encoding": read.encoding,
                "missing_markers": [],
                "missing": "as-value",
                "kinds": self._kinds or None,
            },
            "algorithm": {**self._choose_search(), "attribute_weights": self._read_weights()},
            "privacy": privacy,
            "suppression_limit": limit,
            "suppressed": "keep",
        }
        return Plan.from_content(content)

    def _read_data_type(self, column: str, assignment: Element) -> None:
        """Keep the format of dates; other kinds are recognised from the values."""
        label, form = assignment.findtext("datatype", ""), assignment.findtext("format", "")
        if label in ("Ordinal", "Ordered string"):
            self.left_out.append(
                f"ARX has an order for the values of {quote(column)}; kanon orders them by size."
            )
        if not label.startswith("Date") or not form:
            return
        pattern = form.replace("yyyy", "YYYY").replace("yy", "YY").replace("dd", "DD")
        date, time, _ = pattern.partition(" HH")
        try:
            kind = ColumnKind.parse(f"{'date and time' if time else 'date'} {date}")
        except PlanError:
            self.left_out.append(
                f"The format {quote(form)} of the dates in {quote(column)} is not one that kanon "
                "reads; it recognises dates from the values."
            )
        else:
            self._kinds[column] = str(kind)

    def _read_hierarchy(self, column: str, part: dict[str, Any], assignment: Element) -> None:
        file, levels = self._get_tree(column, assignment)
        if file is None:
            part["hierarchy"] = {"build": "suppression"}
            if not assignment.findtext("ref"):  # ARX leaves such a column as it is
                part["levels"] = {"least": 0, "most": 0}
            return
        part["hierarchy"] = {"nodes": to_nodes(file.hierarchy)}
        ends = [assignment.findtext(end, "All") for end in ("min", "max")]
        numbers = [str(number) for number in range(len(levels))]
        if not {*ends} <= {"All", *numbers}:
            raise PlanError(
                f"Column {quote(column)}: the project bounds its levels by {ends[0]} and "
                f"{ends[1]}, but its hierarchy has levels 0 to {len(levels) - 1}."
            )
        least, most = (
            levels[default if end == "All" else int(end)]
            for end, default in zip(ends, (0, -1), strict=True)
        )
        bounds = {"least": least, "most": most}
        if bounds != {"least": 0, "most": file.hierarchy.height - 1}:
            part["levels"] = bounds

    def _get_tree(self, column: str, assignment: Element) -> tuple[HierarchyFile | None, list[int]]:
        """Read a hierarchy, and the level of the tree that each of its columns is."""
        ref = assignment.findtext("ref")
        content = self._members.get(f"input/{ref}")
        if content is None:
            if ref:
                self.left_out.append(f"The hierarchy of {quote(column)} is not in the project.")
            return None, []
        try:
            file, levels, is_alike = _read_tree(text_of_file(content, ref or ""), self._separator)
        except KanonError as error:
            self.left_out.append(
                f"The hierarchy of {quote(column)} is no tree, so that its values can only be "
                f"suppressed: {error.sentence}"
            )
            return None, []
        self.hierarchies[column] = file.hierarchy
        self.left_out += [f"Hierarchy of {quote(column)}: {note}" for note in file.notes]
        if not is_alike:
            self.left_out.append(
                f"Branches of the hierarchy of {quote(column)} skip levels: kanon counts levels "
                "from the leaves, so one level may group other values than in ARX."
            )
        return file, levels

    def _read_function(self, column: str, part: dict[str, Any], assignment: Element) -> None:
        """Read what ARX writes for a class instead of its group."""
        function = assignment.findtext("microaggregationFunction")
        form = _DATA["written"].get(function or "")
        if form is not None and assignment.findtext("datatype") in ("Integer", "Decimal"):
            part["written"] = form
            does = f"kanon forms classes by its hierarchy, and writes the {form} of each"
        else:
            does = "it is left out; kanon writes means, medians, modes and ranges of numbers"
        if function is not None:
            self.left_out.append(f"Microaggregation of {quote(column)}: {does}.")

    def _build_models(self) -> list[dict[str, Any]]:
        models: list[dict[str, Any]] = []
        for criterion in self._criteria:
            parts = _translate_criterion(criterion)
            columns = [self.columns.get(part["column"], {}) for part in parts if "column" in part]
            sensitive = all(column.get("role") == Role.SENSITIVE for column in columns)
            lacks_tree = any("hierarchical" in part.values() for part in parts) and any(
                "hierarchy" not in column for column in columns
            )
            if parts and sensitive and not lacks_tree:
                models += parts
                continue
            if parts:
                why = "its hierarchy is missing" if sensitive else "its column is not sensitive"
            elif criterion == "Inclusion":
                why = "the records of its research subset are not in the readable part of a project"
            elif re.search(r"\)-(map|presence)", criterion):
                why = "the population that it needs is not in the readable part of a project"
            else:
                why = "kanon has no such model with these parameters"
            self.left_out.append(f"The criterion {quote(criterion, 90)} is left out: {why}.")
        if any(part["model"] == "delta-disclosure" for part in models):
            self.left_out.append(
                "δ-disclosure: kanon also counts values that a class lacks, which ARX ignores; so "
                "the plan is stricter."
            )
        return models

    def _choose_search(self) -> dict[str, Any]:
        name = self._config.findtext("metric", "")
        plain = name.lower().strip()
        algorithms = (
            entry["algorithm"] for entry in _DATA["metrics"] if re.fullmatch(entry["form"], plain)
        )
        search = next(algorithms, None)
        if search is None:
            self.left_out.append(
                f"kanon has no metric {quote(name)}; the plan is guided by general loss, which is "
                "the Loss of ARX."
            )
            search = _DATA["metrics"][0]["algorithm"]
        elif plain.startswith("loss") and plain != "loss (0.5/1.0/1.0)":
            self.left_out.append(
                f"ARX weighs generalisation against suppression ({quote(name)}); in kanon a "
                "suppressed record costs as much as one whose values are all at the root."
            )
        return dict(search)

    def _read_weights(self) -> dict[str, float]:
        """Read the weights; ARX divides them by the largest one."""
        weights = {
            part.findtext("attribute", ""): _parse_number(part, "weight")
            for part in self._config.iterfind(".//attributeWeight")
        }
        used = {
            column: weights[column]
            for column, part in self.columns.items()
            if part["role"] == Role.QUASI_IDENTIFIER and column in weights
        }
        if len({*used.values()}) < 2:
            return {}
        largest = max(used.values())
        return {column: weight / largest for column, weight in used.items()}


def _read_tree(text: str, separator: str) -> tuple[HierarchyFile, list[int], bool]:
    """Read lines of ARX: a tree, the level that each column is, and whether both group alike.

    >>> file, levels, is_alike = _read_tree("a;a;A\\nb;b;B\\nc;c;B", ";")
    >>> file.hierarchy.labels, levels, is_alike
    (('a', 'b', 'c', 'A', 'B', '*'), [0, 0, 1], True)
    """
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        rows = [row for row in reader if row]
    except csv.Error:
        raise HierarchyError("It is not a CSV file.") from None
    width = max(map(len, rows), default=0)
    valued = [row for row in rows if row[0].strip()]  # the line of missing cells has no value
    adds_root = width == 1 or len({row[-1] for row in valued}) > 1
    if adds_root:
        rows = [[*row, ROOT_LABEL] for row in rows]
    out = io.StringIO()
    header = ["leaf", *(f"level {level}" for level in range(1, width + adds_root))]
    csv.writer(out, delimiter=";", lineterminator="\n").writerows([header, *rows])
    file = parse_csv(out.getvalue())
    cells = pd.DataFrame(valued).map(convert_to_text)
    highest = file.hierarchy.height - 1 - adds_root
    repeats = [cells[place].equals(cells[place - 1]) for place in range(1, width)]
    levels = [min(place - sum(repeats[:place]), highest) for place in range(width)]
    lines = pd.DataFrame(write_tree_lines(file.hierarchy)).set_index(0, drop=False)
    is_alike = all(
        (pd.factorize(cells[place])[0] == pd.factorize(lines.loc[cells[0], level])[0]).all()
        for place, level in enumerate(levels)
    )
    return file, levels, is_alike


def _translate_criterion(criterion: str) -> list[dict[str, Any]]:
    """The models in a plan that a criterion of ARX is, none if kanon has none.

    >>> _translate_criterion("recursive-(3.0,2)-diversity for attribute 'ill'")
    [{'model': 'recursive-cl-diversity', 'c': 3.0, 'l': 2, 'column': 'ill'}]
    >>> _translate_criterion("(0.1, 0.5 (0.5), 0.02)-avg-reidentification-risk")
    [{'model': 'average-risk', 'most': 0.1}, {'model': 'records-at-risk', 'above': 0.5, \
'most': 0.02}]
    >>> _translate_criterion("(1.0E-4)-population-uniqueness (dankar)")
    []
    """
    parts = []
    for entry in _DATA["criteria"]:
        form = entry["form"].replace("{number}", _NUMBER).replace("{column}", _OF)
        match, model = re.fullmatch(form, criterion), entry["model"]
        if match is None:
            continue
        column = match.groupdict().get("column")
        numbers: dict[str, float] = {
            name: float(text)
            for name, text in zip(entry["parameters"], match.groups(), strict=False)
        }
        if model == "delta-disclosure":  # ARX counts in bits
            numbers["delta"] *= math.log(2)
        part = {
            "model": model,
            **{name: int(value) if name in ("k", "l") and value.is_integer() else value
               for name, value in numbers.items()},
            **entry.get("constants", {}),
            **({} if column is None else {"column": column}),
        }  # fmt: skip
        try:
            MODEL_PLANS[model].model_validate(part)
        except ValidationError:
            return []
        parts.append(part)
    return parts
