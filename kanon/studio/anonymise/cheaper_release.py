"""Whether a release for a larger k costs less than the one that is shown."""

from typing import NamedTuple

from kanon.base.formatting import percent, thin
from kanon.measures.along import Curves, Points

NOTICEABLE = 0.1  # percentage points of alteration; by less, a release is not called cheaper


class CheaperRelease(NamedTuple):
    k: int
    cost: float  # its alteration in percent
    here: float  # the alteration of the release that is shown

    def sentence(self, k: int) -> str:
        """The sentence about it where the release for ``k`` is shown.

        >>> print(CheaperRelease(100, 62.1, 100.0).sentence(5))
        k = 100 costs less here, 62.1 % instead of 100.0 %: its classes are larger than k = 5 asks \
for and meet the same other models, so its release is a valid answer for k = 5 too.
        """
        return (
            f"k = {thin(self.k)} costs less here, {percent(self.cost)} instead of "
            f"{percent(self.here)}: its classes are larger than k = {thin(k)} asks for and meet "
            f"the same other models, so its release is a valid answer for k = {thin(k)} too."
        )


def cheaper(curves: Curves | Points | None, metric: str, k: int) -> CheaperRelease | None:
    """The cheapest release for a larger k, if it costs noticeably less than the one for k.

    >>> import numpy as np
    >>> numbers = {"k": np.array([2, 5, 9]), "alteration_nllm": np.array([50.0, 100.0, 62.0])}
    >>> cheaper(Points(numbers), "nllm", 5)
    CheaperRelease(k=9, cost=62.0, here=100.0)
    >>> cheaper(Points(numbers), "nllm", 2) is None
    True
    """
    if not isinstance(curves, Points):
        return None
    ks, altered = curves.numbers["k"], curves.numbers[f"alteration_{metric}"]
    suppressed = curves.suppressed_at(ks.tolist())
    here = float(altered[ks == k][0])
    larger = (ks > k) & (suppressed <= suppressed[ks == k][0])
    if not larger.any():
        return None
    least = float(altered[larger].min())
    if here - least < NOTICEABLE:
        return None
    return CheaperRelease(int(ks[larger & (altered <= least + 1e-9)].max()), least, here)
