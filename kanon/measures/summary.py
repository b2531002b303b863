"""All measures of one release, as the command line and the pages show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import kanon.measures
from kanon.cards import parts_of
from kanon.measures import alteration
from kanon.measures.privacy import privacy_summary, risk_summary
from kanon.metrics import Metric
from kanon.recoding import Recoding

__all__ = ["summary"]


def summary(recoding: Recoding, metrics: Sequence[Metric]) -> dict[str, Any]:
    """The measures of a release under their names in ``M.json``.

    Parameters
    ----------
    recoding
        The release.
    metrics
        The metrics whose alteration is wanted; the mean is over the published ones among them.
    """
    altered = {metric.name: alteration.value(recoding, metric) for metric in metrics}
    found = parts_of(kanon.measures)
    return {
        "records": recoding.classes.n_records,
        "classes": recoding.n_classes,
        "suppressed": recoding.suppressed_records,
        "alteration": altered,
        "mean_alteration": alteration.mean_of(altered),
        **{
            name: module.value(recoding)
            for name, module in found.items()
            if module is not alteration
        },
        **risk_summary(recoding.released),
        **privacy_summary(recoding.released),
    }
