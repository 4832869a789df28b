"""Small changes of meaning, one at a time, over the syntax tree of a module."""

from __future__ import annotations

import ast
import copy
import hashlib
import random
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import CodeType

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq, ast.GtE),
    ast.NotEq: (ast.Eq, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
# Arguments that change nothing where texts are UTF-8 and lists are as long as they should be.
_UNSEEN = ("encoding", "strict")
_TWINS = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}


@dataclass(frozen=True)
class Mutant:
    """One change of one module: bytes `start` to `end` of its text become `after`."""

    module: str
    line: int
    start: int
    end: int
    before: str
    after: str

    @cached_property
    def name(self) -> str:
        """A short name that stays the same while the text around it does."""
        whole = "\0".join((self.module, str(self.line), str(self.start), self.before, self.after))
        return hashlib.sha256(whole.encode()).hexdigest()[:12]

    def is_there(self, root: Path) -> bool:
        """Whether the module still holds at this place what is changed."""
        path = root / self.module
        found = path.read_bytes()[self.start : self.end].decode(errors="replace") if path.is_file() else ""
        return found == self.before or self.before in (_plain(f"({found}\n)"), _plain(found))

    def text(self, original: bytes) -> bytes:
        """The module's text with the change; line numbers behind it stay."""
        after = self.after.encode()
        missing = original[self.start : self.end].count(b"\n") - after.count(b"\n")
        filler = b"\n" * missing
        # within brackets a line may end anywhere
        whole = after[:-1] + filler + after[-1:] if after.endswith(b")") else after + filler
        return original[: self.start] + whole + original[self.end :]


def mutants_of(root: Path, module: str) -> list[Mutant]:
    """Every change of one module that these operators know."""
    original = (root / module).read_bytes()
    lines = [0]
    for line in original.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    mutants = []
    for node, new in _changes(ast.parse(original)):
        start = lines[node.lineno - 1] + node.col_offset
        end = lines[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        after = "pass" if new is None else f"({ast.unparse(new)})"
        mutants.append(Mutant(module, node.lineno, start, end, ast.unparse(node), after))
    return list(dict.fromkeys(mutants))


def sample_of(root: Path, module: str, count: int, seed: int) -> list[Mutant]:
    """Some of a module's mutants that compile, at most one of a line before the second of any."""
    mutants = mutants_of(root, module)
    drawn = random.Random(f"{seed} {module}").sample(mutants, len(mutants))
    ranks: dict[int, int] = {}
    ordered = []
    for mutant in drawn:
        ranks[mutant.line] = ranks.get(mutant.line, 0) + 1
        ordered.append((ranks[mutant.line], mutant))
    ordered.sort(key=lambda pair: pair[0])
    original = (root / module).read_bytes()
    return list(islice((mutant for _, mutant in ordered if _compiles(mutant.text(original))), count))


def differing_code(one: CodeType, other: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Code objects at the same place of two compiled modules that differ, outer ones included."""
    if one == other:
        return
    yield one, other
    inner = [[item for item in code.co_consts if isinstance(item, CodeType)] for code in (one, other)]
    if [item.co_qualname for item in inner[0]] == [item.co_qualname for item in inner[1]]:
        for left, right in zip(*inner, strict=True):
            yield from differing_code(left, right)


def _plain(text: str) -> str | None:
    """A piece of code as the syntax tree writes it."""
    # as an expression first: a text that stands alone would be a docstring, which is written otherwise
    for mode in ("eval", "exec"):
        with suppress(SyntaxError):
            return ast.unparse(ast.parse(text, mode=mode))
    return None


def _compiles(text: bytes) -> bool:
    with warnings.catch_warnings(action="ignore"):
        try:
            compile(text, "mutant", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
    return True


def _changes(tree: ast.Module) -> Iterator[tuple[ast.expr | ast.stmt, ast.expr | None]]:
    """Nodes and what stands in their place; None: nothing."""
    for node in _meaningful(tree):
        if isinstance(node, ast.stmt):
            if _can_go(node):
                yield node, None
            continue
        if isinstance(node, ast.expr):
            for new in _expressions(node):
                yield node, new


def _meaningful(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes that decide something: no annotation, docstring or message."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, (ast.JoinedStr, ast.Import, ast.ImportFrom)):
                continue
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue
            if ast.unparse(child).startswith(("if TYPE_CHECKING:", "__all__ = ")):
                continue
            yield from _meaningful(child)


def _can_go(node: ast.stmt) -> bool:
    if isinstance(node, (ast.Raise, ast.AugAssign, ast.Continue, ast.Break, ast.Delete)):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, (ast.Call, ast.Yield, ast.YieldFrom))
    if isinstance(node, ast.Assign):
        return all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
    return False


def _expressions(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.Compare):
        yield from _comparisons(node)
    elif isinstance(node, ast.BoolOp):
        for number in range(len(node.values)):
            left = node.values[:number] + node.values[number + 1 :]
            yield left[0] if len(left) == 1 else ast.BoolOp(node.op, left)
        yield ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub, ast.Invert)):
        yield node.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        yield ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right)
    elif isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse
    elif isinstance(node, ast.Constant):
        yield from map(ast.Constant, _constants(node.value))
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        for number, generator in enumerate(node.generators):
            if generator.ifs:
                changed = copy.deepcopy(node)
                changed.generators[number].ifs.pop()
                yield changed
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        for bound in ("lower", "upper", "step"):
            if getattr(node.slice, bound) is not None:
                slices = copy.copy(node.slice)
                setattr(slices, bound, None)
                yield ast.Subscript(node.value, slices, node.ctx)
    elif isinstance(node, (ast.Tuple, ast.List, ast.Set)) and len(node.elts) > 1:
        if isinstance(node, ast.Set) or isinstance(node.ctx, ast.Load):
            for number in range(len(node.elts)):
                shorter = copy.copy(node)
                shorter.elts = node.elts[:number] + node.elts[number + 1 :]
                yield shorter
    elif isinstance(node, ast.Dict) and len(node.keys) > 1:
        for number in range(len(node.keys)):
            yield ast.Dict(
                node.keys[:number] + node.keys[number + 1 :], node.values[:number] + node.values[number + 1 :]
            )


def _comparisons(node: ast.Compare) -> Iterator[ast.expr]:
    for number, operator in enumerate(node.ops):
        for other in _COMPARISONS[type(operator)]:
            yield ast.Compare(node.left, [*node.ops[:number], other(), *node.ops[number + 1 :]], node.comparators)
    yield ast.Constant(True)
    yield ast.Constant(False)


def _constants(value: object) -> Iterator[bool | int | float | str]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from {value * 2, value + 1, type(value)(0)} - {value}
    elif isinstance(value, str) and value and " " not in value:
        yield value + "x"


def _calls(node: ast.Call) -> Iterator[ast.expr]:
    if isinstance(node.func, ast.Name) and node.func.id in _TWINS:
        yield ast.Call(ast.Name(_TWINS[node.func.id], ast.Load()), node.args, node.keywords)
    if len(node.args) > 1:
        yield ast.Call(node.func, node.args[:-1], node.keywords)
        for number in range(len(node.args) - 1):
            swapped = [*node.args[:number], node.args[number + 1], node.args[number], *node.args[number + 2 :]]
            yield ast.Call(node.func, swapped, node.keywords)
    if not _is_error(node.func):
        for number, keyword in enumerate(node.keywords):
            if keyword.arg in _UNSEEN:
                continue
            yield ast.Call(node.func, node.args, node.keywords[:number] + node.keywords[number + 1 :])


def _is_error(function: ast.expr) -> bool:
    return isinstance(function, ast.Name) and function.id.endswith(("Error", "Data", "Predictions"))
