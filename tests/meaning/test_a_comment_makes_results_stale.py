"""What a program does not see must change no digest: else nobody would dare to clean."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.meaning import meaning_of
from harness.meaning.java import java_meaning
from harness.meaning.octave import octave_meaning
from harness.meaning.r import r_meaning
from tests.meaning.languages import NOISE, commented, documented, sources
from tests.meaning.test_what_is_left_out_matters import JAVA as JAVA_PROGRAM
from tests.meaning.test_what_is_left_out_matters import OCTAVE as OCTAVE_PROGRAM
from tests.meaning.test_what_is_left_out_matters import R as R_PROGRAM

PYTHON, OCTAVE, R, JAVA = sources(".py"), sources(".m"), sources(".R", ".r"), sources(".java")

# Every line is a statement of its own; what begins a comment elsewhere is in strings here.
OCTAVE_LINES = [
    "x = [1 2; 3 4]';",
    "s = 'it''s 100 % # of'; t = x';",
    "printf (\"%d #%s\\n\", x', '%');",
    "c = {'a', \"b%\", x', 'd'}; d = c{1}';",
    "y = [x' x']'; z = x.';",
    "y = [x', '% '];",
    "y = {x '% '};",
    "if (x(1, end)' > 2), y = '#'; end",
    "switch s, case '%', y = 1; otherwise, y = '#'; endswitch",
    "f = @(a) a' + 1;",
    "x += 1e3; y = x \\ y'; y = ! x';",
]
R_LINES = [
    "x <- matrix(1:4, 2)",
    "s <- 'it\\'s # no comment'; t <- \"\\\"#\"",
    "y <- x %*% t(x) %in% 3 %% 2",
    '"%#%" <- function(a, b) a; z <- 1 %#% 2',
    'raw <- r"---(quote " and )-- # )---"; other <- R\'[#]\'',
    "`a # name` <- 3",
    "f <- \\(x) x + 1",
    "bar <- 1; r <- 2",
]

JAVA_LINES = [
    "String s = \"it's // no \\\" /* comment */\"; char c = '\"', d = '\\'', e = '/';",
    "int x = a / b / -c + +d - --e % 0x1F_L << 3 >>> 2; x >>>= 1; x /= 2;",
    "double y = 1e-5 + .5f * 1.0E+3 / 2.;",
    "Map<String, List<int[]>> m = new HashMap<>(); f(Main::g, (a, b) -> a != b && !c || ~d >= 2);",
    "for (int one : many) { if (a ? b : c) continue; } @Override void h(int... rest) {}",
    'String t = "" + \'\\t\' + "a" + "";',
    "non-sealed class N {} label: while (i++ < --j) x |= y ^ z & w;",
]


@pytest.mark.parametrize(
    ("lines", "mark", "name"),
    [(OCTAVE_LINES, "#", "x.m"), (OCTAVE_LINES, "%", "x.m"), (R_LINES, "#", "x.R"), (JAVA_LINES, "//", "x.java")],
    ids=["octave #", "octave %", "r", "java"],
)
@settings(deadline=None)
@given(data=st.data())
def test_comments_and_blank_lines_mean_nothing(
    lines: list[str], mark: str, name: str, data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.sampled_from(lines), min_size=1, max_size=6))
    plain = "\n".join(chosen)
    noisy = data.draw(commented(chosen, mark=mark))
    assert meaning_of(name, noisy.encode()) == meaning_of(name, plain.encode())


@pytest.mark.parametrize("path", OCTAVE + R, ids=lambda path: path.name)
def test_a_comment_behind_each_line_of_a_real_file_means_nothing(path: Path) -> None:
    """Of all of them at once: no file is one that the rules are unsure of. A continued line takes no comment."""
    rule = octave_meaning if path.suffix == ".m" else r_meaning
    lines = path.read_text().splitlines()
    assert rule("\n".join(map(_commented, lines)).encode()) == rule(path.read_bytes())
    assert rule("\r\n".join(lines).encode()) == rule(path.read_bytes())


def _commented(line: str) -> str:
    return line if line.endswith("...") else f'{line}  # it\'s "new"\n'


@pytest.mark.parametrize("path", JAVA, ids=lambda path: path.name)
def test_other_spaces_and_comments_in_a_real_file_of_java_mean_nothing(path: Path) -> None:
    """Its tokens one a line, and with comments of both kinds between all of them."""
    tokens = java_meaning(path.read_bytes())
    assert len(tokens) > 100
    assert java_meaning(tokens.encode()) == tokens
    between = tokens.replace("\n", ' /* it\'s "one" */\r\n\t // another /* \n')
    assert meaning_of(path.name, between.encode()) == meaning_of(path.name, path.read_bytes())


def test_formatting_of_java_means_nothing() -> None:
    one = b'void f(int[] a){if(a.length>0){g("x  y",a[0]+ +b);}}'
    other = b'void f (int [] a)\n{\n /** Doc. */ if ( a . length > 0 ) {\n  g( "x  y" , a [0] + + b ) ;\n }\n}\n'
    assert meaning_of("x.java", one) == meaning_of("x.java", other)
    block = '""" \n  x " // "" y\n \\""" z"""'
    assert java_meaning(f"a = {block}; // end".encode()) == f"a\n=\n{block}\n;"


def test_a_block_of_comments_means_nothing() -> None:
    block = "%{\nx = 'it\n  #{\n nested\n #}\n%}\n"
    assert octave_meaning(f"x = 1;\n{block}y = 2;".encode()) == octave_meaning(b"x = 1;\ny = 2;")
    # behind code it is a comment of one line
    assert octave_meaning(b"x = 1; %{ one\ny = 2;") == octave_meaning(b"x = 1;\ny = 2;")


def test_comments_inside_a_matrix_mean_nothing() -> None:
    plain, noisy = "x = [1 2\n  3 4];", "x = [1 2 # first\n\n  % next\n  3 4]; # end"
    assert octave_meaning(plain.encode()) == octave_meaning(noisy.encode())


def test_a_string_may_begin_a_line_inside_parentheses() -> None:
    plain, noisy = "f (a,\n  'x % y');", "f (a, # first\n  'x % y'); # it's the end"
    assert octave_meaning(plain.encode()) == octave_meaning(noisy.encode())


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_python_written_anew_means_the_same(path: Path) -> None:
    """`ast.unparse` leaves no comment and no line break where it was."""
    content = path.read_bytes()
    before = meaning_of("x.py", content)
    tree = ast.parse(content)
    assert meaning_of("x.py", ast.unparse(tree).encode()) == before
    assert meaning_of("x.py", ast.unparse(documented(tree, "What # it 'does'.")).encode()) == before


@settings(deadline=None)
@given(path=st.sampled_from(PYTHON), data=st.data())
def test_a_comment_anywhere_in_python_means_nothing(path: Path, data: st.DataObject) -> None:
    content = path.read_text()
    lines = content.splitlines()
    statements = [node for node in ast.walk(ast.parse(content)) if isinstance(node, ast.stmt)]
    statement = data.draw(st.sampled_from(statements))
    at = statement.lineno - 1
    indentation = data.draw(st.sampled_from(["", "  ", "\t"]))
    lines.insert(at, data.draw(st.sampled_from(["", f"{indentation}# {data.draw(NOISE)}"])))
    assert meaning_of("x.py", "\n".join(lines).encode()) == meaning_of("x.py", content.encode())


def test_formatting_of_python_means_nothing() -> None:
    one = b'def f(a, *, b = (1,)):\n  "Doc."\n  if a: return "x" "y"\n  pass\n'
    other = (
        b"def f(\n    a,\n    *,\n    b=(\n        1,\n    ),\n):\n    if a:\n        # why\n        return 'xy'\n"
    )
    assert meaning_of("x.py", one) == meaning_of("x.py", other)
    assert meaning_of("x.py", b"x = 1_000\r\ny = 0x10\r\n") == meaning_of("x.py", b"x=1000; y=16")


def test_every_python_has_the_same_digests() -> None:
    """Written down: this must not change from one Python to the next, or every key would."""
    content = b'''"""Doc."""
import os.path as p, sys
from . import a

@d(1)
async def f(x: int = -1, /, *y, z=..., **k) -> str:
    global g
    async with x as (q, r), y: del q[0:1, ...]
    return f"{x!r:>{z}}b{{" 'c' f"{y:}" u'd' if x is not None else {**k, 1: 2j}

class C(B, m=D):
    def g(self): return lambda: (yield)
    w: "int"

try:
    match x:
        case {"a": [1, *_], **r} | C(b=None) if r: pass
except* E as e: raise e from None
else: x @= [b'\\xff', 1e400, 0xffff_ffff_ffff_ffff_ffff, "\\ud800\\U0001fae8", True]
'''
    assert meaning_of("x.py", content) == "c84649fc1fe47152d749e4fc0c3d3484cc67b70c08e964752fab284522776544"


@settings(deadline=None)
@given(data=st.data())
def test_the_order_and_the_form_of_a_table_mean_nothing(data: st.DataObject) -> None:
    values = st.sampled_from(["1", "1.5", '"a # b"', "[1, 2]", "true", "1979-05-27T07:32:00Z", "inf", "{ a = 1 }"])
    table = data.draw(st.dictionaries(st.sampled_from("abcdef"), values, min_size=1))
    plain = "".join(f"{name} = {value}\n" for name, value in table.items())
    lines = [f"{name}={value}" for name, value in data.draw(st.permutations(list(table.items())))]
    noisy = data.draw(commented(lines, mark="#"))
    assert meaning_of("x.toml", noisy.replace("é", "e").encode()) == meaning_of("x.toml", plain.encode())


TABLE = """# one
b = [1, 2.5, [true, "x # y"], []]
a = 1979-05-27T07:32:00Z
[t.u]
"é" = inf
"""
# of each rule: this must not change, or every key would
WRITTEN_DOWN = {
    "x.m": (OCTAVE_PROGRAM, "28ce572d2d5c97d0033c69bf9003e656d66efd278168dab103a98ff862d5c62a"),
    "x.R": (R_PROGRAM, "79954c24cbc6e7a17e2fe173d35bd10a16f89070e2def3d4ece340df1a6a51f8"),
    "x.r": (R_PROGRAM, "7c016fa1ff7da315a080b3218b35a8e05fd6b2000b5e9b67fff5b0363710abdb"),
    "x.java": (JAVA_PROGRAM, "5d1020e79582cf6839bc21b87bbe15a914dc18dd8d9c296cef184ea2bfec4386"),
    "x.toml": (TABLE, "0bc3b5564faa5231d9ecf53d57adaa1557ba6886a299b280c659b22fe4ce6eb8"),
    "x.txt": (TABLE, "11510e0834d3e7452883667bd0decebbd9a1a7aa8812842adadee31b00418aab"),
}


@pytest.mark.parametrize("name", WRITTEN_DOWN)
def test_a_digest_of_today_is_that_of_yesterday(name: str) -> None:
    text, digest = WRITTEN_DOWN[name]
    assert meaning_of(name, text.encode()) == digest
