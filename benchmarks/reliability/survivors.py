"""Why no test kills a mutant that survives: what each change does not change."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["why_of"]

_PROGRESS = "Only when and how far progress is told of."
_WORDING = "Only how an error is worded."

_WHY: Mapping[str, Mapping[str, str]] = {
    "kanon/recoding.py": {
        "return np.zeros((0, 0), dtype=np.int32)": "The width of an array without rows.",
        "live = np.flatnonzero(self.into < 0)": "A class is never merged into class 0: what is "
        "made of several comes after all that were there.",
    },
    "kanon/privacy/model.py": {
        'most = thin(self.highest) if self.highest >= 1000 else f"{self.highest:g}"': _WORDING,
    },
    "kanon/privacy/reidentification.py": {
        'who = "records" if classes.persons is None else "persons"': _WORDING,
    },
    "kanon/algorithms/merge_until_models_hold.py": {
        "if merges % _OFTEN == 0:": _PROGRESS,
        "max(0.0, 1 - left / at_first),": _PROGRESS,
        "parts[0], start=np.array([0, len(values)]), value=values.astype(np.int32), count=summed": "Of the parts only their name and total are taken, which are the same in all of them.",
        "histograms[made] = [_joined(each) for each in zip(*map(seen, parts), strict=True)]": "All classes have the same histograms.",
    },
}
"""By module, the line in which a mutant was planted that cannot be told from the original."""


def why_of(module: str, was: str) -> str:
    """The reason; empty if none is known."""
    return _WHY.get(module, {}).get(was, "")
