"""The hierarchy that a user chose for a column: typed parameters, and the tree or a problem."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal, NamedTuple

from kanon.base.data_files import read_data
from kanon.base.formatting import count_noun
from kanon.base.kinds import ColumnKind, compute_sort_sizes
from kanon.base.sentences import write_records
from kanon.base.values import MISSING_LABEL, ValueCounts
from kanon.errors import HierarchyError, KanonError, list_names, quote
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.build import DATE_LEVELS, mask_steps, ordered
from kanon.hierarchy.codes import CodeRange, parse_ranges, write_ranges
from kanon.hierarchy.files import HierarchyFile, read_hierarchy, to_nodes
from kanon.hierarchy.frequencies import (
    build_by_frequency,
    build_quantile_intervals,
    find_percentile,
)
from kanon.hierarchy.plans import (
    AgesPlan,
    CodesPlan,
    DatesPlan,
    HierarchyPlan,
    IntervalsPlan,
    MaskPlan,
    NodesPlan,
    SuppressionPlan,
    build_hierarchy,
    describe_ranges,
)
from kanon.hierarchy.suggest import propose, starting_parameters, strays, suggest_builder
from kanon.sources.coverage import add_missing_leaf, find_uncovered_values


class BuilderField(NamedTuple):
    name: str
    label: str
    kind: Literal["text", "lines", "choice"] = "text"
    options: Sequence[str] = ()
    help_text: str = ""
    is_advanced: bool = False


class Builder(NamedTuple):
    title: str
    description: str
    parameters: tuple[BuilderField, ...] = ()


BUILDERS: Mapping[str, Builder] = {
    name: Builder(
        builder["title"],
        builder["description"],
        tuple(BuilderField(**parameter) for parameter in builder.get("fields", ())),
    )
    for name, builder in read_data(__file__, "builders.toml").items()
}

BuilderPlan = SuppressionPlan | IntervalsPlan | MaskPlan | AgesPlan | CodesPlan | DatesPlan
"""The builders of plans whose parameters a user can type."""

FIELDS = tuple(
    dict.fromkeys(part.name for builder in BUILDERS.values() for part in builder.parameters)
)


@dataclass(frozen=True, eq=False)
class HierarchyChoice:
    """A builder, the parameters typed for it, and the tree or the problem."""

    builder: str  # A key of :data:`BUILDERS`
    # The parameters as typed, which survive an error; a file's name and content, a drawn tree.
    typed: Mapping[str, Any] = field(default_factory=dict)
    tree: Hierarchy | None = None  # It may lack values of the column: then there is no plan
    problem: str | None = None  # Why there is no usable tree
    hint: str | None = None  # What is still to do
    notes: tuple[str, ...] = ()  # What else the user should know
    plan: HierarchyPlan | None = None  # None: the choice cannot be used
    counts: Mapping[str, int] = field(default_factory=dict)  # The records of each value
    lacking: Mapping[str, int] = field(default_factory=dict)  # Of the values without a place
    values: ValueCounts | None = None  # What the tree was built for; None: build it again

    @property
    def unused_values(self) -> list[str]:
        if self.tree is None:
            return []
        leaves = self.tree.labels[: self.tree.n_leaves]
        return [leaf for leaf in leaves if leaf not in self.counts]

    @property
    def remarks(self) -> tuple[str, ...]:
        if self.tree is None or not isinstance(self.plan, CodesPlan):
            return self.notes
        return (*self.notes, *describe_ranges(self.plan, self.tree))


def build_choice(
    builder: str, parameters: Mapping[str, Any], column: str, values: ValueCounts
) -> HierarchyChoice:
    """Build the tree of a choice; a mistake becomes its problem."""
    counts, missing = values.counts, values.missing
    notes: tuple[str, ...] = ()
    plan: HierarchyPlan | None = None
    try:
        if builder == "file":
            if "content" not in parameters and "imported" not in parameters:
                hint = "Choose a CSV or JSON file of the hierarchy."
                return HierarchyChoice(builder, parameters, hint=hint, counts=counts)
            file: HierarchyFile | None = parameters.get("imported")
            file = file or read_hierarchy(parameters["content"], str(parameters["name"]))
            tree, notes = file.hierarchy, file.notes
        elif builder == "drawn":
            tree = parameters["drawn"]
        elif builder in _TREES:
            tree = _TREES[builder](parameters, values)
        else:
            plan = _PLANS[builder](parameters, counts)
            tree = build_hierarchy(column, plan, values.texts, Path(), values.chosen)
        if missing:  # they count as a value: a run would give them a place too
            tree = add_missing_leaf(column, counts, tree)
            counts = {**counts, MISSING_LABEL: missing}
    except KanonError as error:
        return HierarchyChoice(builder, parameters, problem=error.sentence, counts=counts)
    choice = HierarchyChoice(
        builder, parameters, counts=counts, notes=notes, plan=plan, values=values
    )
    return _match_values(choice, tree)


def build_choice_again(
    choice: HierarchyChoice, column: str, values: ValueCounts
) -> HierarchyChoice:
    if choice.values == values:  # with many columns, building all trees again takes seconds
        return choice
    new_choice = build_choice(choice.builder, choice.typed, column, values)
    return replace(new_choice, notes=tuple(dict.fromkeys([*choice.notes, *new_choice.notes])))


def _match_values(choice: HierarchyChoice, tree: Hierarchy) -> HierarchyChoice:
    lacking = find_uncovered_values(choice.counts, tree)
    if lacking:
        problem = (
            f"This hierarchy lacks {count_noun(len(lacking), 'distinct value')} "
            f"({list_names(lacking)}) found in {write_records(sum(lacking.values()))}; add what "
            "is missing on the Hierarchies page, or to the file."
        )
        return replace(choice, tree=tree, lacking=lacking, problem=problem, plan=None)
    plan = choice.plan or NodesPlan(nodes=to_nodes(tree))
    return replace(choice, tree=tree, lacking={}, problem=None, hint=None, plan=plan)


def set_drawn_tree(
    choice: HierarchyChoice, tree: Hierarchy, notes: tuple[str, ...] = ()
) -> HierarchyChoice:
    """The same choice with a drawn tree; the typed parameters stay."""
    typed = {**choice.typed, "drawn": tree}
    return _match_values(
        replace(choice, builder="drawn", typed=typed, notes=notes, plan=None, values=None), tree
    )


def build_imported_choice(
    name: str, file: HierarchyFile, column: str, values: ValueCounts
) -> HierarchyChoice:
    return build_choice("file", {"name": name, "imported": file}, column, values)


def suggest_first_choice(column: str, values: ValueCounts) -> HierarchyChoice:
    texts = values.texts
    builder = suggest_builder(texts, values.chosen).builder
    choice = build_choice(builder, get_start_parameters(builder, values), column, values)
    if choice.tree is None:
        choice = build_choice("suppression", {}, column, values)
    odd = strays(texts)
    if not odd:
        return choice
    note = (
        f"All other values are numbers. If {list_names(odd)} stands for missing, "
        "add it to the cells that count as missing under 'How it was read'."
    )
    return replace(choice, notes=(*choice.notes, note))


def is_first_choice(choice: HierarchyChoice, column: str, kind: ColumnKind | None) -> bool:
    counts = {value: n for value, n in choice.counts.items() if value != MISSING_LABEL}
    first = suggest_first_choice(column, ValueCounts(counts, chosen=kind))
    return (first.builder, first.typed) == (choice.builder, choice.typed)


def suggest_choice(column: str, values: ValueCounts) -> HierarchyChoice:
    """A hierarchy suggested from the values, with the reason as its note."""
    proposal = propose(values.counts, values.chosen)
    typed = _format_parameters(proposal.parameters.items())
    choice = build_choice(proposal.builder, typed, column, values)
    return replace(choice, notes=(proposal.reason, *choice.notes))


def get_start_parameters(builder: str, values: ValueCounts) -> dict[str, str]:
    texts = values.texts
    if builder == "ordered":
        return {"sizes": "3, 2", "order": "\n".join(_order_texts(texts, values.chosen))}
    if builder == "quantiles":
        return {"parts": "8, 4, 2"}
    if builder == "frequency":
        return {"least": str(max(5, values.n_records // 100))}
    return _format_parameters(starting_parameters(builder, texts, values.chosen).items())


def write_typed_parameters(plan: BuilderPlan) -> dict[str, str]:
    """A builder of a plan as a user would type it."""
    return _format_parameters((name, value) for name, value in plan if name in FIELDS)


def _format_parameters(parameters: Iterable[tuple[str, object]]) -> dict[str, str]:
    return {name: _format_parameter(value) for name, value in parameters}


def _format_parameter(value: object) -> str:
    if not isinstance(value, list | tuple):
        return "" if value is None else str(value)
    if value and isinstance(value[0], CodeRange):
        return write_ranges(value)
    return ", ".join(map(str, value))


def _order_texts(texts: Sequence[str], kind: ColumnKind | None) -> list[str]:
    """Numbers by size, dates by time, other texts by name."""
    numbers = compute_sort_sizes(texts, kind)
    if numbers is None:
        return sorted(texts, key=str.casefold)
    return [text for _, text in sorted(zip(numbers, texts, strict=True))]


# --- from text to a plan, or to a tree that a plan writes out -------------------------------
def _plan_intervals(typed: Mapping[str, Any], counts: Mapping[str, int]) -> HierarchyPlan:
    origin = _parse_number("The number that bounds count from", typed.get("origin", ""))
    lowest = _parse_bound("The lowest bound", typed.get("lowest", ""), counts, False)
    highest = _parse_bound("The highest bound", typed.get("highest", ""), counts, True)
    widths = str(typed.get("widths", "")).strip()
    has_bounds = lowest is not None or highest is not None
    return IntervalsPlan(
        build="intervals",
        widths=[] if has_bounds and not widths else _parse_numbers("Widths", widths, "5, 10, 20"),
        origin=0.0 if origin is None else origin,
        lowest=lowest,
        highest=highest,
    )


def _plan_mask(typed: Mapping[str, Any], counts: Mapping[str, int]) -> HierarchyPlan:
    keep = typed.get("keep", "")
    step = str(typed.get("step", "")).strip()
    if step and str(keep).strip():
        raise HierarchyError(
            "Give either the characters kept at each level or how many are masked at a time, "
            "not both."
        )
    if step:
        steps = _parse_whole_numbers("Characters masked at a time", step, "2")
        lengths = mask_steps(max(map(len, counts), default=0), steps[0])
    else:
        lengths = _parse_whole_numbers("Kept characters", keep, "4, 3, 2")
    return MaskPlan(build="mask", keep=lengths, side=typed.get("side") or "left")


def _plan_codes(typed: Mapping[str, Any], counts: Mapping[str, int]) -> HierarchyPlan:
    prefixes = str(typed.get("prefixes") or "").strip()
    return CodesPlan(
        build="codes",
        separators=str(typed.get("separators") or "").strip(),
        prefixes=_parse_whole_numbers("Kept characters", prefixes, "3, 2") if prefixes else [],
        ranges=parse_ranges(str(typed.get("ranges") or "")),
    )


def _plan_dates(typed: Mapping[str, Any], counts: Mapping[str, int]) -> HierarchyPlan:
    levels = [part.strip() for part in str(typed.get("levels", "")).split(",") if part.strip()]
    unknown = [level for level in levels if level not in DATE_LEVELS]
    if unknown or not levels:
        raise HierarchyError(
            f"Periods must be {', '.join(DATE_LEVELS)}, separated by commas, not "
            f"{quote(unknown[0] if unknown else '')}."
        )
    return DatesPlan(build="dates", levels=levels)  # type: ignore[arg-type]


def _plan_ages(typed: Mapping[str, Any], counts: Mapping[str, int]) -> HierarchyPlan:
    day = str(typed.get("day", "")).strip()
    try:
        date.fromisoformat(day)
    except ValueError:
        raise HierarchyError(
            f"Write the day for 'Age on the day' like 2026-11-25, not {quote(day)}."
        ) from None
    return AgesPlan(
        build="ages",
        day=day,
        widths=_parse_numbers("Widths", typed.get("widths", ""), "1, 5, 10"),
        lowest=_parse_number("The lowest bound", typed.get("lowest", "")),
        highest=_parse_number("The highest bound", typed.get("highest", "")),
    )


_PLANS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, int]], HierarchyPlan]] = {
    "suppression": lambda typed, counts: SuppressionPlan(build="suppression"),
    "intervals": _plan_intervals,
    "mask": _plan_mask,
    "codes": _plan_codes,
    "dates": _plan_dates,
    "ages": _plan_ages,
}


def _build_quantiles(typed: Mapping[str, Any], values: ValueCounts) -> Hierarchy:
    parts = _parse_whole_numbers("Numbers of intervals", typed.get("parts", ""), "8, 4, 2")
    return build_quantile_intervals(values.counts, parts, values.chosen)


def _build_ordered_tree(typed: Mapping[str, Any], values: ValueCounts) -> Hierarchy:
    listed = [line.strip() for line in str(typed.get("order", "")).splitlines() if line.strip()]
    return ordered(
        listed or _order_texts(values.texts, values.chosen),
        _parse_whole_numbers("Members per group", typed.get("sizes", ""), "3, 2"),
    )


def _build_frequency(typed: Mapping[str, Any], values: ValueCounts) -> Hierarchy:
    least = _parse_whole_numbers("The number of records", typed.get("least", ""), "10")
    return build_by_frequency(values.counts, least[0])


_TREES: Mapping[str, Callable[[Mapping[str, Any], ValueCounts], Hierarchy]] = {
    "quantiles": _build_quantiles,
    "ordered": _build_ordered_tree,
    "frequency": _build_frequency,
}
"""Builders whose tree depends on the records, or on a list of values: a plan writes it out."""


def _parse_numbers(subject: str, text: object, example: str) -> list[float]:
    try:
        numbers = [float(part) for part in str(text).split(",") if part.strip()]
    except ValueError:
        numbers = []
    if not numbers:
        instead = f", not {quote(text)}" if str(text).strip() else ""
        raise HierarchyError(
            f"{subject} are numbers separated by commas, such as {example}{instead}."
        )
    return numbers


def _parse_whole_numbers(subject: str, text: object, example: str) -> list[int]:
    numbers = _parse_numbers(subject, text, example)
    if any(not number.is_integer() for number in numbers):
        raise HierarchyError(f"{subject} are whole numbers, such as {example}.")
    return [int(number) for number in numbers]


def _parse_bound(
    subject: str, text: object, counts: Mapping[str, int], highest: bool
) -> float | None:
    """A bound that may be given as a share of the records, such as 99 %."""
    number = _parse_number(subject, str(text).strip().removesuffix("%"))
    if number is None or not str(text).strip().endswith("%"):
        return number
    return find_percentile(counts, number, highest)


def _parse_number(subject: str, text: object) -> float | None:
    if not str(text).strip():
        return None
    try:
        return float(str(text))
    except ValueError:
        raise HierarchyError(f"{subject} must be a number or empty, not {quote(text)}.") from None
