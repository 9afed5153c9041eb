"""Numbers of the C sources have a decimal point in any locale of the program (src/os/locale.h)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree import ROOT

FUNCTION = re.compile(r"^(?:\w[^\n;=]*\([^{;]*)\n?\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# `%.0f` has no point. A function that passes its arguments on gets any format.
CALL = r"\b[a-z]*(?:printf|scanf)\s*\("
FLOAT = r'"[^"\n]*(?<!%)%[-+ #0*]*\d*(?!\.0f)(?:\.\d+|\.\*)?[lL]?[aefgAEFG][^"\n]*"'
NUMBER = re.compile(rf"{CALL}[^;]*?{FLOAT}|\bv[a-z]*printf\s*\(|\b(?:strto(?:d|f|ld)|atof)\s*\(|\bcyaml_load\w*\s*\(")


def unguarded(text: str) -> Iterator[str]:
    """The first such call of each function that does not declare WTL_LOCALE_APART before it."""
    for function in FUNCTION.finditer(COMMENT.sub("", text)):
        body = function.group(1)
        number = NUMBER.search(body)
        if number and "WTL_LOCALE_APART;" not in body[: number.start()]:
            yield number.group().split("\n")[0]


def test_numbers_are_printed_and_read_apart_from_the_locale_of_the_program() -> None:
    files = [p for p in sorted((ROOT / "src").rglob("*")) if p.suffix in {".c", ".cc", ".h", ".j2"}]
    found = [f"{path.relative_to(ROOT)}: {call}" for path in files for call in unguarded(path.read_text())]
    assert not found, "declare WTL_LOCALE_APART first (src/os/locale.h):\n" + "\n".join(found)


def test_the_check_finds_each_kind_of_call() -> None:
    good = 'int f(FILE *f)\n{\n  WTL_LOCALE_APART;\n  fprintf(f, "%.3g", 0.5);\n}\n'
    assert list(unguarded(good)) == []
    assert list(unguarded('int f(FILE *f)\n{\n  fprintf(f, "%.0f %s", 0.5, "100 %% good");\n}\n')) == []
    calls = ['fprintf(f, "%d %s"\n "%.17g", 1)', 'sscanf(t, "%ld=%lf", &n, &x)', "vsnprintf(t, n, format, args)"]
    for call in [*calls, "*x = strtod(t, NULL)", "return atof(t)", "cyaml_load_data(t)"]:
        assert len(list(unguarded(good + f"int g(void)\n{{\n  {call};\n}}\n"))) == 1, call
