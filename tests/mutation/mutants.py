"""Small changes of a module's functions, each of which a test should notice."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

from msgspec import Struct

COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
JOINED = {ast.And: ast.Or, ast.Or: ast.And}
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Mutant(Struct, frozen=True):
    """One change."""

    path: str  # of the module, from the root of the repository
    function: str
    line: int
    lines: tuple[int, ...]  # of the statement: a test that runs one of them may notice
    what: str  # `a < b` -> `a <= b`
    place: int  # of the changed node among all of the module

    @property
    def key(self) -> str:
        """What stays when lines move."""
        return f"{self.path}::{self.function}: {self.what}"


def changes_of(node: ast.AST) -> Iterator[ast.AST]:
    """The node, changed in each way that is known for its kind."""
    new = deepcopy(node)
    match new:
        case ast.Compare(ops=[op]) if type(op) in COMPARED:
            new.ops = [COMPARED[type(op)]()]
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in COMPUTED:
            new.op = COMPUTED[type(op)]()
        case ast.BoolOp(op=op):
            new.op = JOINED[type(op)]()
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            new = operand
        case ast.Constant(value=bool(value)):
            new.value = not value
        case ast.Constant(value=int(value) | float(value)):
            new.value = value + 1
        case ast.Call(func=ast.Name(id=name)) if name in CALLED:
            new.func.id = CALLED[name]
        case ast.Call(func=ast.Attribute(attr=name)) if name in CALLED:
            new.func.attr = CALLED[name]
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            new.test = ast.UnaryOp(ast.Not(), test)
        case ast.Raise() | ast.Continue() | ast.Break() | ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()):
            new = ast.Pass()
        case _:
            return
    yield ast.fix_missing_locations(ast.copy_location(new, node))
    if isinstance(node, ast.AugAssign):
        yield ast.copy_location(ast.Pass(), node)


def words_of(node: ast.AST) -> str:
    """A node in one short line."""
    if isinstance(node, (ast.If, ast.While)):
        return f"{type(node).__name__.lower()} {ast.unparse(node.test)}"
    return " ".join(ast.unparse(node).split())


def mutants_of(path: Path, root: Path) -> list[Mutant]:
    """All mutants of a module's functions: not of names, texts, types, default values and what runs at import."""
    tree = ast.parse(path.read_text())
    numbers = {id(node): place for place, node in enumerate(ast.walk(tree))}
    found: list[Mutant] = []

    def visit(node: ast.AST, function: str, statement: ast.stmt | None) -> None:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            inner = f"{function}.{node.name}".lstrip(".")
            for child in node.body:
                visit(child, inner, None)
            return
        if isinstance(node, ast.AnnAssign):
            if node.value is not None:
                visit(node.value, function, node)
            return
        statement = node if isinstance(node, ast.stmt) else statement
        if statement is not None and in_function(function):
            for number, new in enumerate(changes_of(node)):
                what = f"`{words_of(node)}` -> `{words_of(new)}`"
                found.append(
                    Mutant(
                        str(path.relative_to(root)), function, node.lineno, lines_of(statement), what,
                        10 * numbers[id(node)] + number,
                    )
                )  # fmt: skip
        for child in ast.iter_child_nodes(node):
            visit(child, function, statement)

    functions = {name for name, _ in functions_of(tree)}

    def in_function(name: str) -> bool:
        return any(name == each or name.startswith(f"{each}.") for each in functions)

    for node in tree.body:
        visit(node, "", None)
    return found


def functions_of(tree: ast.AST, before: str = "") -> Iterator[tuple[str, ast.AST]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            name = f"{before}.{node.name}".lstrip(".")
            if isinstance(node, FUNCTIONS):
                yield name, node
            yield from functions_of(node, name)


def lines_of(statement: ast.stmt) -> tuple[int, ...]:
    """The lines of a statement without those of its block."""
    body = getattr(statement, "body", None)
    end = statement.end_lineno or statement.lineno
    if isinstance(body, list) and body:
        end = max(statement.lineno, body[0].lineno - 1)
    return tuple(range(statement.lineno, end + 1))


def mutated(source: str, place: int) -> ast.Module:
    """The module with one change."""
    tree = ast.parse(source)
    number, choice = divmod(place, 10)
    wanted = next(node for position, node in enumerate(ast.walk(tree)) if position == number)
    new = list(changes_of(wanted))[choice]

    class Change(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return new if node is wanted else self.generic_visit(node)

    return ast.fix_missing_locations(Change().visit(tree))
