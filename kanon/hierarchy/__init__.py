"""Generalisation hierarchies: the tree, its builders, its files, its edits."""

from kanon.hierarchy.tree import LARGEST_WEIGHT, ROOT_LABEL, Hierarchy

__all__ = ["LARGEST_WEIGHT", "ROOT_LABEL", "Hierarchy"]
