"""A hierarchy while it is edited."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kanon.hierarchy.tree import Hierarchy


@dataclass
class Draft:
    """A mutable tree with the node numbers of the old tree; new nodes come after them."""

    root: int
    labels: list[str]
    parent: list[int]
    children: list[list[int]]
    weight: list[float] | None
    removed_nodes: set[int]

    @classmethod
    def from_tree(cls, tree: Hierarchy) -> Draft:
        weight = None if tree.weight is None else tree.weight.tolist()
        children = [list(below) for below in tree.children]
        return cls(tree.root, list(tree.labels), tree.parent.tolist(), children, weight, set())

    def create_node(self, label: str, above: int, weight: float | None) -> int:
        """Create a node with a parent whose list of children lacks it as yet."""
        self.labels.append(label)
        self.parent.append(above)
        self.children.append([])
        if self.weight is not None:
            self.weight.append(weight or 0.0)
        return len(self.labels) - 1

    def add(self, label: str, above: int, weight: float | None) -> int:
        node = self.create_node(label, above, weight)
        self.children[above].append(node)
        return node

    def take(self, nodes: Iterable[int]) -> set[int]:
        """Remove nodes from their parents, and return these."""
        removed = set(nodes)
        parents = {self.parent[node] for node in removed}
        for above in parents:
            self.children[above] = [node for node in self.children[above] if node not in removed]
        return parents

    def attach_nodes(self, nodes: Sequence[int], above: int) -> None:
        """Put nodes without a parent under one, after its children."""
        self.children[above].extend(nodes)
        for node in nodes:
            self.parent[node] = above

    def remove_empty(self, groups: Iterable[int]) -> None:
        empty = {node for node in groups if not self.children[node] and node != self.root}
        while empty:
            self.removed_nodes |= empty
            above = self.take(empty)
            empty = {node for node in above if not self.children[node] and node != self.root}

    def split(self, between: int) -> None:
        if self.weight is None:
            return
        half = min(self.weight[node] for node in self.children[between]) / 2
        self.weight[between] = half
        for node in self.children[between]:
            self.weight[node] -= half

    def remove_groups(self, nodes: Sequence[int]) -> None:
        dissolved = set(nodes)
        # Downwards: a dissolved group passes on what it got from a dissolved group above it.
        for node in sorted(dissolved, reverse=True):
            for child in self.children[node]:
                if self.weight is not None:
                    self.weight[child] += self.weight[node]
        for above in {self.parent[node] for node in dissolved} - dissolved:
            self.children[above] = self._replace_by_children(dissolved, self.children[above])

    def _replace_by_children(self, dissolved: set[int], nodes: Sequence[int]) -> list[int]:
        """Replace each dissolved node by its children, at any depth."""
        remaining: list[int] = []
        stack = list(reversed(nodes))
        while stack:
            node = stack.pop()
            if node in dissolved:
                stack.extend(reversed(self.children[node]))
            else:
                remaining.append(node)
        return remaining

    def build(self) -> Hierarchy:
        entries: list[tuple[str, str | None, float | None]] = [(self.labels[self.root], None, None)]
        stack = [self.root]
        while stack:
            above = stack.pop()
            for node in self.children[above]:
                weight = None if self.weight is None else self.weight[node]
                entries.append((self.labels[node], self.labels[above], weight))
            stack.extend(self.children[above])
        return Hierarchy.from_entries(entries)
