"""The rules for Octave, R and Java leave out what means something: the languages themselves are the judges."""

from __future__ import annotations

import pytest

from harness.base.layout import Layout
from harness.engine import Engine
from harness.images import ensure_image
from harness.meaning.java import java_meaning
from harness.meaning.octave import octave_meaning
from harness.meaning.r import r_meaning

OCTAVE = """#!/usr/bin/octave
# -- a comment with 'quotes" and [brackets
1;   % a script
%{
x = 'never
  #{
  "nested
  #}
%}

function y = twice (x) % 'why
  ## it's the "help"

  y = 2 * x';   # a transposition's comment
end

    a = [1 2 % first 'row
       # between

         3 4]';   % it's done
b = {'it''s 100 % # of', "a \\"#\\" %", a', 'd'}; # '
c = [a' a']'; d = [a', a'];
e = ['x' '% y']; f = a.'; g = b{1}';
switch b{1}, case '%', h = 1; otherwise, h = '#'; endswitch
if (a(1, end)' > 2), k = '#'; end   % "
l = @(z) z' + ...
  1;
m = a \\ f'; n = ! a';   # '
a += 1e3;   b{3} -= 1;
o = [a(1) -1
  -2 3];
p = twice (a)';
disp (a), disp (b), disp (c), disp (d), disp (e), disp (f), disp (g), disp (h), disp (k), disp (l (a))
disp (m), disp (n), disp (o), disp (p)
"""
R = """#!/usr/bin/Rscript
# a comment with 'quotes" and `names

x <- matrix(1:4, 2)   # it's "one"
   s <- 'it\\'s # none'; t <- "\\"#\\"   #"  # '

"%#%" <- function(a, b) { # "
  a +
    # between
    b
}
u <- 1 %#% 2   # %
raw <- r"---(quote " and )-- # )---"; other <- R'[#]'   # (
`a # name` <- 3 %% 2 # `
long <- "first  # line

   # and second"
f <- \\(x) x + 1
print(list(x, s, t, u, raw, other, `a # name`, long, f(1)))
"""
JAVA = """
// a comment with 'quotes" and {brackets
import java.util.*; /* a block
  // why "not" */
/** Its help: why { */
final class Probe {
    static int twice(int x) { return x + + x; } // it's x++x

    public static void main(String... a) throws Exception {
        String s = "it's // no \\" /* comment */"; char c = '"', d = '\\'', e = '/';
        int x = 9, i = 6 / /* between */ 2 / -x-- + - -x;   // "
        Map<String, List<int[]>> m = new HashMap<>();
        String block = \"""
            first // line
              "" /* and */ \\\""" second
            \""";
        double y = 1e-5 + .5f * 0x1p+3 / 2.;
        loop: for (int one : new int[] {1, 2, 3}) { if (one > 2) break loop; x >>>= 1; x <<= one; }
        System.out.println(List.of(s, c, d, e, x, i, m, block, y, twice(4), i != 3 ? "a" + '\\t' + "b" : ""));
    }
}
"""
LANGUAGES = {
    "octave": (
        "bnnr",
        OCTAVE,
        octave_meaning,
        [
            "octave-cli",
            "--norc",
            "--eval",
            'f = fopen ("/tmp/p.m", "w"); fputs (f, getenv ("PROGRAM")); fclose (f); source ("/tmp/p.m")',
        ],
    ),
    "r": (
        "lrssl",
        R,
        r_meaning,
        ["Rscript", "--vanilla", "-e", 'p <- tempfile(); cat(Sys.getenv("PROGRAM"), file = p); source(p)'],
    ),
    "java": (
        "biolne",
        JAVA,
        java_meaning,
        [
            "sh",
            "-ec",
            "printenv PROGRAM > /tmp/Probe.java; java -m jdk.compiler/com.sun.tools.javac.Main "
            "-proc:none -d /tmp/classes /tmp/Probe.java; java Probe",
        ],
    ),
}


@pytest.mark.engine
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_without_what_is_left_out_does_the_same(engine: Engine, layout: Layout, language: str) -> None:
    method, program, rule, command = LANGUAGES[language]
    image = ensure_image(engine, layout, method).image_id
    meaning = rule(program.encode())
    assert "why" not in meaning and "between" not in meaning and "%{" not in meaning
    said = [
        engine.client.containers.run(
            image,
            entrypoint=["/usr/bin/tini-static", "--"],
            command=command,
            environment={"PROGRAM": text},
            network_mode="none",
            tmpfs={"/tmp": "size=16m"},
            remove=True,
        )
        for text in (program, meaning)
    ]
    assert said[0] == said[1] and len(said[0]) > 100
