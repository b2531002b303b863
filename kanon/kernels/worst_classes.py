"""A tree over classes whose inner nodes hold the largest value below: the worst class on top."""

import numpy as np

from kanon.kernels.compilation import loop


@loop
def set_badness(worst, c, bad):
    """Set how bad a class is; minus infinity takes it out."""
    place = len(worst) // 2 + c
    worst[place] = bad
    place >>= 1
    while place:
        largest = max(worst[2 * place], worst[2 * place + 1])
        if worst[place] == largest:
            break
        worst[place] = largest
        place >>= 1


@loop
def find_worst_classes(view):
    worst = view.worst
    half = len(worst) // 2
    for end in range(3):
        bad = worst[1]
        view.ends[end], view.ends_bad[end] = -1, bad
        if bad == -np.inf:
            continue
        place = 1
        while place < half:
            place = 2 * place if worst[2 * place] == bad else 2 * place + 1
        view.ends[end] = place - half
        set_badness(worst, place - half, -np.inf)
    for end in range(3):
        if view.ends[end] >= 0:
            set_badness(worst, view.ends[end], view.ends_bad[end])
