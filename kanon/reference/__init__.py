"""The algorithms as their papers describe them: plain Python, step by step, every figure open.

The fast algorithms are tested against these, and the lessons of the page *Learn* are drawn from
their steps. Nothing here knows :mod:`kanon.algorithms` or :mod:`kanon.kernels`.
"""
