"""In which modules mutants are planted, and which tests concern each, the quickest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.fresh import ROOT

__all__ = ["AREAS", "PLAIN_PYTHON"]

PLAIN_PYTHON = ("kernels",)
"""Areas that are run by Python as they are written, not compiled: it would be a minute each."""

_MODELS = ("tests/privacy/test_privacy_plan.py", "tests/privacy/test_privacy.py")
_MERGING = ("tests/algorithms/test_merge_until_models_hold.py",)
_CHECK = (
    "tests/release/test_release_check.py",
    "tests/release/test_release_file.py",
    "tests/release/test_suppressed.py",
    "tests/privacy/test_persons.py",
)
_RECODING = (
    "tests/test_run.py",
    "tests/release/test_suppressed.py",
    "tests/algorithms/test_gaa.py",
    "tests/algorithms/test_gaa_parts.py",
)
_PERSONS = ("tests/privacy/test_persons.py",)

_GREEDY = ("tests/algorithms/test_gaa.py", "tests/algorithms/test_strategies.py")
_SWEEP = ("tests/algorithms/test_lattice_sweep.py",)
_KERNELS = {
    "along": (
        "tests/measures/test_along_sensitive.py",
        "tests/measures/test_utility_measures.py",
    ),
    "ancestors": _GREEDY,
    "badness": _GREEDY,
    "cluster_growth": ("tests/algorithms/test_k_member.py",),
    "cluster_joining": ("tests/algorithms/test_oka.py", "tests/algorithms/test_clustering.py"),
    "cluster_shedding": ("tests/algorithms/test_oka.py",),
    "clusters": ("tests/algorithms/test_k_member.py", "tests/algorithms/test_oka.py"),
    "groups": _GREEDY,
    "hashing": _GREEDY,
    "heap": _GREEDY,
    "histograms": _GREEDY,
    "lattice": ("tests/algorithms/test_lattice.py",),
    "lattice_sweep_classes": _SWEEP,
    "lattice_sweep_dissolve": _SWEEP,
    "lattice_sweep_groups": _SWEEP,
    "lattice_sweep_order": _SWEEP,
    "lattice_sweep_split": _SWEEP,
    "lattice_sweep_walk": _SWEEP,
    "linkage": ("tests/privacy/test_linkage.py",),
    "mdav": ("tests/algorithms/test_mdav.py",),
    "merging": (*_GREEDY, *_SWEEP),
    "merging_state": _GREEDY,
    "mondrian": ("tests/algorithms/test_mondrian.py",),
    "partner": _GREEDY,
    "partner_badness": _GREEDY,
    "partner_product": _GREEDY,
    "partner_search": _GREEDY,
    "prefix_tree": ("tests/algorithms/test_prefix_tree.py", *_GREEDY),
    "spread": (
        "tests/measures/test_utility_measures.py",
        "tests/measures/test_extended_measures.py",
    ),
    "third_classes": _GREEDY,
    "worst_classes": _GREEDY,
}


def _privacy() -> dict[str, Sequence[str]]:
    results: dict[str, Sequence[str]] = {
        f"kanon/privacy/{path.name}": _MODELS for path in (ROOT / "kanon/privacy").glob("[a-z]*.py")
    }
    more = {
        "conjunction": _MERGING,
        "persons": _PERSONS,
        "reidentification": ("tests/privacy/test_linkage.py", *_PERSONS),
    }
    return results | {
        f"kanon/privacy/{name}.py": (*_MODELS, *tests) for name, tests in more.items()
    }


_WRITING = ("tests/sources/test_writing.py", "tests/release/test_formulas.py")

AREAS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "recoding": {"kanon/recoding.py": _RECODING},
    "privacy": _privacy(),
    "release check": {
        "kanon/release/check.py": _CHECK,
        "kanon/release/released_rows.py": _CHECK,
        "kanon/release/cell_values.py": (
            "tests/privacy/test_spellings.py",
            "tests/base/test_kinds.py",
        ),
        "kanon/sources/read_back.py": ("tests/release/test_release_file.py",),
    },
    "merging until models hold": {"kanon/algorithms/merge_until_models_hold.py": _MERGING},
    "writing": {
        f"kanon/sources/{name}.py": _WRITING
        for name in ("writing", "arrow_tables", "sheet_writing", "text_form")
    },
    "kernels": {f"kanon/kernels/{name}.py": tests for name, tests in _KERNELS.items()},
}
"""Per area its modules, each with the files of its tests beside its own doctests."""
