"""Small faults planted in a module: one place of its code is changed, the rest stays as it is.

What is changed decides something: comparisons, arithmetic, conditions, numbers, what is returned,
and statements that are there for their effect. Texts, docstrings, decorators and annotations are
left alone, as no test holds how something is worded or declared; but a call within an annotation,
such as the range of a parameter, is code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

__all__ = ["Mutant", "mutants_of"]

COMPARISONS: dict[type[ast.cmpop], Sequence[type[ast.cmpop]]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
"""Each operator, and what stands in its place."""


@dataclass(frozen=True)
class Mutant:
    """A module with one fault.

    Attributes
    ----------
    line
        Where it is.
    was, now
        That line as it was, and what stands there now.
    source
        The whole module.
    """

    line: int
    was: str
    now: str
    source: str


def mutants_of(source: str, draw: Random) -> Iterator[Mutant]:
    """A mutant for each place that can be changed; where there are several changes, one is drawn.

    >>> [mutant.now for mutant in mutants_of("if a > b:  # too many\\n    raise Full", Random(1))]
    ['if (a >= b):  # too many', 'pass']
    """
    for node, role in _code(ast.parse(source)):
        if changes := list(_changes(node, role)):
            yield _spliced(source, node, draw.choice(changes))


def _spliced(source: str, node: ast.stmt | ast.expr, change: str) -> Mutant:
    """The source with other code in place of a node."""
    lines = source.encode().splitlines(keepends=True)
    assert node.end_lineno is not None and node.end_col_offset is not None
    begin = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    put = f"({change})" if isinstance(node, ast.expr) else change
    whole = source.encode()
    mutated = (whole[:begin] + put.encode() + whole[end:]).decode()
    was, now = (text.splitlines()[node.lineno - 1].strip() for text in (source, mutated))
    return Mutant(node.lineno, was, now, mutated)


def _code(node: ast.AST, role: str = "") -> Iterator[tuple[ast.AST, str]]:
    """What is run of a module, no annotation, text or import for a type checker; and as what."""
    if isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ):
        return
    yield node, role
    for name, value in ast.iter_fields(node):
        if name == "decorator_list":
            continue
        for each in value if isinstance(value, list) else [value]:
            if name in ("annotation", "returns") and isinstance(each, ast.AST):
                for call in ast.walk(each):
                    if isinstance(call, ast.Call):
                        yield from _code(call)
            elif isinstance(each, ast.AST):
                yield from _code(each, name)


def _changes(node: ast.AST, role: str) -> Iterator[str]:
    """What may stand in place of a node, as code."""
    if role in ("test", "ifs") and isinstance(node, ast.Name | ast.Attribute | ast.Call):
        yield f"not {ast.unparse(node)}"
    match node:
        case ast.Compare(left=left, ops=ops, comparators=right):
            for place, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    changed = [*ops[:place], other(), *ops[place + 1 :]]
                    yield ast.unparse(ast.Compare(left, changed, right))
        case ast.BinOp(left=left, op=op, right=right):
            if type(op) in ARITHMETIC and not (_is_text(left) or _is_text(right)):
                yield ast.unparse(ast.BinOp(left, ARITHMETIC[type(op)](), right))
        case ast.BoolOp(op=op, values=values):
            other_op = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield ast.unparse(ast.BoolOp(other_op, values))
        case ast.UnaryOp(operand=operand):
            yield ast.unparse(operand)
        case ast.Constant(value=bool(value)):
            yield str(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield str(value + 1)
            yield str(value - 1)
        case ast.Return(value=ast.expr() as value):
            if not (isinstance(value, ast.Constant) and value.value is None):
                yield "return None"
        case ast.Break():
            yield "continue"
        case ast.Continue():
            yield "break"
        case ast.AugAssign(target=target, op=op, value=value):
            yield "pass"
            if type(op) in ARITHMETIC:
                yield ast.unparse(ast.AugAssign(target, ARITHMETIC[type(op)](), value))
        case ast.Raise() | ast.Delete():
            yield "pass"
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()):
            yield "pass"
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            yield "pass"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
