"""Several privacy models at once: which classes fail any of them, and whether all can be met."""

from collections.abc import Sequence

import numpy as np

from kanon.classes import EquivalenceClasses
from kanon.errors import Unsatisfiable
from kanon.privacy.model import Model


def find_broken(models: Sequence[Model], classes: EquivalenceClasses) -> np.ndarray:
    """Which classes do not meet at least one model. Shape (R,), bool; all False without models."""
    breaks = np.zeros(classes.n_classes, dtype=bool)
    for model in models:
        breaks |= ~model.holds_each(classes)
    return breaks


def check_reachable(models: Sequence[Model], classes: EquivalenceClasses) -> None:
    """Check before a run that some release can meet each of the models.

    Merging classes never worsens the worst level, so the table as one class has the best one.
    """
    if not classes.n_classes:
        return
    whole = classes.as_one_class
    for model in models:
        if not model.holds(whole):
            raise Unsatisfiable(model.refusal(whole))
