"""Another program must have another digest: a result would stand for code that never gave it."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harness.meaning import meaning_of
from harness.meaning.java import java_meaning
from harness.meaning.octave import octave_meaning
from harness.meaning.r import r_meaning
from harness.meaning.scripts import Unsure
from tests.meaning.languages import sources
from tests.meaning.test_a_comment_makes_results_stale import JAVA_LINES, OCTAVE_LINES, R_LINES

PYTHON = sources(".py")


def differ(name: str, one: str, other: str) -> bool:
    return meaning_of(name, one.encode()) != meaning_of(name, other.encode())


def _constant(node: ast.Constant) -> None:
    value = node.value
    match value:
        case bool():
            node.value = not value
        case int() | float() | complex():
            node.value = value + 1
        case str():
            node.value = value + "#"
        case bytes():
            node.value = value + b"#"
        case _:
            node.value = 0


def _name(node: ast.Name) -> None:
    node.id += "_"


def _attribute(node: ast.Attribute) -> None:
    node.attr += "_"


def _operator(node: ast.BinOp | ast.AugAssign) -> None:
    node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()


def _comparison(node: ast.Compare) -> None:
    node.ops[0] = ast.Gt() if isinstance(node.ops[0], ast.Lt) else ast.Lt()


def _logic(node: ast.BoolOp) -> None:
    node.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()


def _keyword(node: ast.keyword) -> None:
    node.arg = f"{node.arg}_" if node.arg else "x"


def _argument(node: ast.arg) -> None:
    node.arg += "_"


def _call(node: ast.Call) -> None:
    node.args.append(ast.Constant(None))


def _branch(node: ast.If | ast.While) -> None:
    node.test = ast.UnaryOp(ast.Not(), node.test)


def _function(node: ast.FunctionDef) -> None:
    node.decorator_list.append(ast.Name("staticmethod"))


def _return(node: ast.Return) -> None:
    node.value = None if node.value else ast.Constant(1)


def _import(node: ast.ImportFrom) -> None:
    node.module = f"{node.module}_"


CHANGES: dict[type[ast.AST], Callable[..., None]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.BinOp: _operator,
    ast.AugAssign: _operator,
    ast.Compare: _comparison,
    ast.BoolOp: _logic,
    ast.keyword: _keyword,
    ast.arg: _argument,
    ast.Call: _call,
    ast.If: _branch,
    ast.While: _branch,
    ast.FunctionDef: _function,
    ast.Return: _return,
    ast.ImportFrom: _import,
}


def _changeable(tree: ast.Module, kind: type[ast.AST]) -> list[ast.AST]:
    """The nodes to change: docstrings are none of them, nor are the pieces of f-strings."""
    silent = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for inner in ast.walk(node)
    }
    return [node for node in ast.walk(tree) if type(node) is kind and id(node) not in silent]


@cache
def _holding(kind: str) -> list[Path]:
    return [path for path in PYTHON if _changeable(ast.parse(path.read_bytes()), getattr(ast, kind))]


@pytest.mark.parametrize("kind", CHANGES, ids=lambda kind: kind.__name__)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_one_changed_node_changes_python(kind: type[ast.AST], data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(_holding(kind.__name__)))
    content = path.read_text()
    tree = ast.parse(content)
    CHANGES[kind](data.draw(st.sampled_from(_changeable(tree, kind))))
    assert differ("x.py", content, ast.unparse(ast.fix_missing_locations(tree)))


@settings(deadline=None)
@given(path=st.sampled_from(PYTHON), seed=st.integers(0, 1 << 16))
def test_a_statement_that_goes_or_moves_changes_python(path: Path, seed: int) -> None:
    content = path.read_text()
    tree = ast.parse(content)
    order = random.Random(seed)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, ast.Module | ast.FunctionDef | ast.For)]
    body = order.choice(bodies)
    doing = [one for one in body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    assume(len(doing) > 1)
    at = body.index(order.choice(doing[:-1]))
    if order.random() < 0.5:
        del body[at]
    else:
        assume(ast.dump(body[at]) != ast.dump(body[at + 1]))
        body[at], body[at + 1] = body[at + 1], body[at]
    assert differ("x.py", content, ast.unparse(tree))


PAIRS = {
    "another type of number": ("x = 1", "x = 1.0"),
    "a truth is no number": ("x = 1", "x = True"),
    "text and bytes": ("x = 'a'", "x = b'a'"),
    "an empty text is no absent value": ("return_ = ''", "return_ = None"),
    "spaces in a text": ("x = 'a  b'", "x = 'a b'"),
    "what looks like a comment": ("x = 'a # b'", "x = 'a # c'"),
    "an f-string is no text": ("x = '{y}'", "x = f'{y}'"),
    "a brace of an f-string": ("x = f'{{y}}'", "x = f'{y}'"),
    "the format of an f-string": ("x = f'{y:>3}'", "x = f'{y:>4}'"),
    "the conversion of an f-string": ("x = f'{y!r}'", "x = f'{y!s}'"),
    "indentation": ("if a:\n  b()\n  c()", "if a:\n  b()\nc()"),
    "precedence": ("x = a - (b - c)", "x = a - b - c"),
    "a chain": ("x = a < b < c", "x = (a < b) < c"),
    "a tuple": ("x = (1)", "x = (1,)"),
    "a starred argument": ("f(x)", "f(*x)"),
    "a default": ("def f(a=None): g()", "def f(a): g()"),
    "a bare star": ("def f(a, *, b): g()", "def f(a, b): g()"),
    "a slash": ("def f(a, /, b): g()", "def f(a, b): g()"),
    "an annotation": ("x: int = 1", "x: float = 1"),
    "a name in brackets": ("x: int", "(x): int"),
    "a relative import": ("from . import a", "from .. import a"),
    "another name": ("import a as b", "import a"),
    "else": ("for a in b:\n  c()\nelse:\n  d()", "for a in b:\n  c()\nd()"),
    "what is awaited": ("async def f(): await g()", "async def f(): g()"),
    "a generator": ("def f(): yield", "def f(): g = None"),
    "deleted or read": ("del x", "x"),
    "a name alone, which may be missing": ("x", ""),
    "an attribute alone": ("x = 1\nx.real", "x = 1"),
    "a docstring that is read": ("'one'\nprint(__doc__)", "'two'\nprint(__doc__)"),
    "the interpreter": ("#!/usr/bin/python3\nx = 1", "#!/usr/bin/python3 -O\nx = 1"),
    "the encoding": ("# coding: utf-8\nx = 'é'", "# coding: latin-1\nx = 'é'"),
    "where a nested list ends": ("x = [[a], b]", "x = [[a, b]]"),
    "a doubled star of a dict": ("x = {**a, None: b}", "x = {None: a, **b}"),
    "an assertion": ("assert x", "assert x, y"),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_a_small_change_of_python_is_seen(pair: str) -> None:
    assert differ("x.py", *PAIRS[pair])


def test_python_that_does_not_parse_counts_by_its_bytes() -> None:
    assert differ("x.py", "x = (1", "x = (1 # comment")
    assert differ("x.py", "x = 1\0", "x = 1\0#")
    deep = "x = " + "-" * 50_000 + "1"
    assert differ("x.py", deep, deep + " # comment")


@pytest.mark.parametrize(("lines", "name"), [(OCTAVE_LINES, "x.m"), (R_LINES, "x.R")], ids=["octave", "r"])
@settings(deadline=None)
@given(data=st.data())
def test_any_other_character_of_code_changes_a_script(lines: list[str], name: str, data: st.DataObject) -> None:
    """None of these lines has a comment, so each of their characters but the outermost spaces counts."""
    chosen = data.draw(st.lists(st.sampled_from(lines), min_size=1, max_size=4))
    at = data.draw(st.integers(0, len(chosen) - 1))
    place = data.draw(st.integers(0, len(chosen[at]) - 1))
    new = data.draw(st.sampled_from([*"abz019+-;,'\"`#%() []{}\\.", ""]))
    assume(new != chosen[at][place])
    changed = chosen[at][:place] + new + chosen[at][place + 1 :]
    # what is cut off may be a space at the end, or a comment that holds nothing
    assume(changed.strip(" ") not in {chosen[at], ""})
    others = [*chosen[:at], changed, *chosen[at + 1 :]]
    assert differ(name, "\n".join(chosen), "\n".join(others))


@settings(deadline=None)
@given(data=st.data())
def test_any_other_character_of_code_changes_java(data: st.DataObject) -> None:
    """Any but spaces between tokens: none is put in, and none that is there is changed."""
    line = data.draw(st.sampled_from(JAVA_LINES))
    place = data.draw(st.sampled_from([at for at, sign in enumerate(line) if sign != " "]))
    new = data.draw(st.sampled_from([*"abz019+-;,'\"`#%(){}<>=!&|\\.", ""]))
    assume(new != line[place])
    assert differ("x.java", line, line[:place] + new + line[place + 1 :])


@pytest.mark.parametrize("path", sources(".java"), ids=lambda path: path.name)
def test_any_other_token_of_a_real_file_of_java_changes_it(path: Path) -> None:
    tokens = java_meaning(path.read_bytes()).split("\n")
    whole = meaning_of(path.name, "\n".join(tokens).encode())
    for at in range(0, len(tokens), 7):
        for changed in (["other_"], [tokens[at], "other_"], []):
            text = "\n".join([*tokens[:at], *changed, *tokens[at + 1 :]])
            assert meaning_of(path.name, text.encode()) != whole, tokens[at]


@pytest.mark.parametrize("path", sources(".m", ".R", ".r"), ids=lambda path: path.name)
def test_any_other_word_of_a_real_script_changes_it(path: Path) -> None:
    """Words outside of comments, each in turn; in these files a line with a comment begins with it."""
    lines = path.read_text().splitlines()
    for at, line in enumerate(lines):
        if not line.strip() or line.lstrip()[0] in "#%":
            continue
        for changed in (line.replace(line.split()[-1], "other_"), f"other_ {line}", line[:-1], ""):
            assert differ(path.name, "\n".join(lines), "\n".join([*lines[:at], changed, *lines[at + 1 :]])), line


SCRIPTS = {
    "a comment that ends": ("x.m", "x = 1; % y = 2;", "x = 1;\ny = 2;"),
    "a comment that a carriage return ends": ("x.m", "x = 1; % y", "x = 1; % y\ry = 2;"),
    "a comment in R that a carriage return ends": ("x.R", "x <- 1 # y", "x <- 1 # y\ry <- 2"),
    "a string in a matrix": ("x.m", "x = [a '% b'];", "x = [a '% c'];"),
    "a string behind a comma": ("x.m", "x = {a,'% b'};", "x = {a,'% c'};"),
    "a string behind a keyword": ("x.m", "switch a\ncase '% b'\nend", "switch a\ncase '% c'\nend"),
    "words of a command": ("x.m", "disp it's%b's", "disp it's%c's"),
    "words of a command behind another": ("x.m", "x = 1; title a's%b's", "x = 1; title a's%c's"),
    "words of a command behind a condition": ("x.m", "if (x) title a's%b's", "if (x) title a's%c's"),
    "a space that is a comma": ("x.m", "x = [a -1];", "x = [a - 1];"),
    "a space at the begin of a continued row": ("x.m", "x = [a ...\n -1];", "x = [a ...\n- 1];"),
    "a continued string": ("x.m", 'x = "a\\\n% b";', 'x = "a\\\n% c";'),
    "a line that goes on": ("x.m", "x = a ...\n+ 1;", "x = a\n+ 1;"),
    "a row": ("x.m", "x = [1 2\n3 4];", "x = [1 2 3 4];"),
    "a block without an end": ("x.m", "%{\nx = 1;", "%{\nx = 2;"),
    "the end of a block": ("x.m", "x = 1;\n%}\ny = 1;", "x = 1;\n%}\n"),
    "a name that is an operator": ("x.R", "x <- 1 %#% 2", "x <- 1 %#% 3"),
    "a raw string": ("x.R", 'x <- r"(a" # b)"', 'x <- r"(a" # c)"'),
    "a raw string with dashes": ("x.R", 'x <- r"-(a)" # b)-"', 'x <- r"-(a)" # c)-"'),
    "a string over lines": ("x.R", "x <- 'a\n# b'", "x <- 'a\n# c'"),
    "spaces in a string over lines": ("x.R", "x <- 'a\n  b'", "x <- 'a\n b'"),
    "a line in a string": ("x.R", "x <- 'a\n\nb'", "x <- 'a\nb'"),
    "a quoted name": ("x.R", "`a # b` <- 1", "`a # c` <- 1"),
    "a name that ends in r": ("x.R", "x <- c(bar, 'a)')", "x <- c(bar, 'b)')"),
    "two statements": ("x.R", "x <- a\n-1", "x <- a -1"),
    "a comment in a string of java": ("x.java", 'x = "a // b";', 'x = "a // c";'),
    "a block in a string of java": ("x.java", 'x = "a /* b */";', 'x = "a /* c */";'),
    "a quote as a character": ("x.java", "x = '\"'; // y = '\"'", "x = '\"'; // y = '\"'\nz = 1;"),
    "a comment that ends in java": ("x.java", "x = 1; // y = 2;", "x = 1; //\ry = 2;"),
    "a block that ends": ("x.java", "/* a */ x = 1; /* b */", "/* a x = 1; b */"),
    "spaces in a text block": ("x.java", 'x = """\n  a\n  b""";', 'x = """\n  a\n b""";'),
    "what looks like a comment in a text block": ("x.java", 'x = """\n // a""";', 'x = """\n // b""";'),
    "two operators": ("x.java", "x = a - -b;", "x = a -- b;"),
    "two plus signs": ("x.java", "x = a+ +b;", "x = a++ +b;"),
    "two words": ("x.java", "return a;", "returna;"),
    "a number with a sign": ("x.java", "x = 0x1e+5;", "x = 0x1e +5;"),
    "a shift": ("x.java", "x = a > > b;", "x = a >> b;"),
    "a word with a hyphen": ("x.java", "x = non-sealed;", "x = non - sealed;"),
    "spaces in a string of java": ("x.java", 'x = "a  b";', 'x = "a b";'),
    "the interpreter": ("x.R", "#!/usr/bin/Rscript\nx", "#!/usr/bin/Rscript --vanilla\nx"),
}


@pytest.mark.parametrize("case", SCRIPTS)
def test_what_only_looks_like_a_comment_is_seen(case: str) -> None:
    name, one, other = SCRIPTS[case]
    assert differ(name, one, other)


@pytest.mark.parametrize(
    "text",
    [
        "x = 'a",
        'x = "a',
        "x = (1]",
        "x = [1",
        "x = a ...",
        "x = a ...\n% comment\n+ 1;",
        "x = [1, ...\n\n2];",
        "%}",
        "[\n%{\n%}\n]",
        "x = a '% b';",
        "return'% b';",
        "x = 1...\n;",
        "x = a \\\n b;",
        "disp 'a'",
        "# -*- coding: latin-1 -*-",
        "x = 1; % comment\ry = 2;",
    ],
)
def test_octave_that_is_not_plain_counts_by_its_bytes(text: str) -> None:
    with pytest.raises(Unsure):
        octave_meaning(text.encode())
    assert differ("x.m", text, text + "\n# comment")


@pytest.mark.parametrize("text", ["x <- 'a", 'x <- "a', "x <- `a", 'x <- r"(a)', "x <- 1 % 2", "# a\rx"])
def test_r_that_is_not_plain_counts_by_its_bytes(text: str) -> None:
    with pytest.raises(Unsure):
        r_meaning(text.encode())
    assert differ("x.R", text, text + "\n# comment")


@pytest.mark.parametrize(
    "text",
    [
        'x = "a',
        "x = 'a;",
        "/* a",
        'x = """a',
        "x = \u00e9;",
        "x = '\\u0022';",
        "x = #;",
        "// \\u000a y = 1;",
        "x = 1;\n// \\u000a y = 1;",
        "x = '';",
    ],
)
def test_java_that_is_not_plain_counts_by_its_bytes(text: str) -> None:
    with pytest.raises(Unsure):
        java_meaning(text.encode())
    assert differ("x.java", text, text + "\n// comment")


TABLES = {
    "another number": ("a = 1", "a = 2"),
    "another type": ("a = 1", "a = 1.0"),
    "a text": ("a = 1", 'a = "1"'),
    "a truth": ("a = 1", "a = true"),
    "the order of a list": ("a = [1, 2]", "a = [2, 1]"),
    "another name": ("a = 1", "b = 1"),
    "another table": ("[t]\na = 1", "[u]\na = 1"),
    "a date is no text": ("a = 1979-05-27", 'a = "1979-05-27"'),
    "a time of another place": ("a = 1979-05-27T07:32:00Z", "a = 1979-05-27T07:32:00+01:00"),
    "a list that ends elsewhere": ("a = [[1], 2]", "a = [[1, 2]]"),
    "a zero with a sign": ("a = 0.0", "a = -0.0"),
    "what is no TOML": ("a = ", "a = # comment"),
    "a comment in a text": ('a = "# b"', 'a = "# c"'),
}


@pytest.mark.parametrize("case", TABLES)
def test_another_value_changes_a_table(case: str) -> None:
    assert differ("x.toml", *TABLES[case])


def test_the_order_of_names_in_a_table_counts_where_it_is_asked_for() -> None:
    for name, one, other in (
        ("x.toml", b"a = 1\nb = 2\n", b"b = 2\na = 1\n"),
        ("x.toml", b"t = [{ a = 1, b = 2 }]\n", b"t = [{ b = 2, a = 1 }]\n"),
    ):
        assert meaning_of(name, one) == meaning_of(name, other)
        assert meaning_of(name, one, ordered=True) != meaning_of(name, other, ordered=True)
        assert meaning_of(name, one, ordered=True) == meaning_of(name, b"# more\n" + one, ordered=True)
    assert meaning_of("x.py", b"x = 1", ordered=True) == meaning_of("x.py", b"x = 1  # more", ordered=True)


def test_files_without_a_rule_count_by_their_bytes() -> None:
    for name in ("x.txt", "x.json", "py", "x.PY", "x.pyc"):
        assert differ(name, "x = 1", "x = 1  # comment")
    assert differ("x.py", "x = 1", "x = 2") and not differ("folder.m/x.py", "x = 1", "x = 1 # comment")


@pytest.mark.parametrize("meaning", [octave_meaning, r_meaning, java_meaning])
def test_what_is_no_text_counts_by_its_bytes(meaning: Callable[[bytes], str]) -> None:
    with pytest.raises(Unsure):
        meaning("x = 1; % \u00e9".encode("latin-1"))


def test_how_the_text_of_an_f_string_is_cut_counts_for_nothing() -> None:
    """A text that is continued, or that stands in pieces beside each other, is one text."""
    whole = 'x = f"ab{y}cd"\n'
    assert not differ("x.py", whole, 'x = f"a" "b" f"{y}c" "" f"d"\n')
    for other in ('x = f"a" "{y}" f"cd"\n', 'x = f"ab{y}c"\n', 'x = f"ba{y}cd"\n'):
        assert differ("x.py", whole, other)
