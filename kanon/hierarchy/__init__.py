"""Generalisation hierarchies: the tree, its builders, its files, its edits."""

from kanon.hierarchy.tree import ROOT_LABEL, Hierarchy

__all__ = ["ROOT_LABEL", "Hierarchy"]
