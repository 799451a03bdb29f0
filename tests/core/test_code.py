"""Code and data without a fence are told from prose, and no rule touches them."""

import ast
import json
from pathlib import Path
from random import Random

import pytest
import yaml

from dhp.content.catalog import read_list
from dhp.core.code import code_lines
from dhp.core.errors import NotApplicable
from dhp.core.markdown import masked
from dhp.core.records import Example
from dhp.perturb.api import Edited
from dhp.perturb.registry import builtin_perturbers

PYTHON = """import math

def area(radius, digits=2):
    if radius < 0 or math.isnan(radius):
        return float('-inf')
    # the usual formula, rounded

    return round(math.pi * radius ** 2, digits)

class Circle:
    def __init__(self, radius):
        self.radius = radius"""
JAVASCRIPT = """const total = items.reduce((sum, item) => sum + item.price, 0);
if (total > limit) {
  console.log("over the limit");
} else {
  submit(total);
}"""
SQL = """SELECT name, COUNT(*) AS n FROM orders
WHERE total >= 100
GROUP BY name;"""
HTML = """<ul class="menu">
  <li>Home</li>
  <li>About us</li>
</ul>"""
C = """#include <stdio.h>
int main(void) {
    printf("hello, world");
    return 0;
}"""
DATA = json.dumps({"name": "Ada", "years": [1815, 1852], "known for": "notes on the engine"}, indent=2)
FORMS = [
    '#!/bin/sh\nset -e\nfor f in *.log; do\n  gzip "$f"\ndone\necho All compressed',
    "mkdir -p build\ncd build\ncmake ..\nsudo make install",
    "FROM python:3.11\nCOPY . .\nRUN pip install -r requirements.txt",
    "select id, total from invoices\nwhere paid = false\norder by total desc\nlimit 10;",
    "name,age,city\nAnna,34,Bonn\nBob,27,Lyon",
    "id;price\n1;49.90\n2;19.50",
    "services:\n  web:\n    image: nginx\n    ports:\n      - 80\n  db:\n    image: postgres",
    "\\begin{align}\n  f(x) &= x^2 + 1 \\\\\n\\end{align}",
    "static int\nadd(int a, int b)\n{\n\treturn a + b;\n}\n\n"
    "/* Sort them.\n   The last one is the pivot. */\nint n = 0;",
    "class Stack {\npublic:\n    void push(int x) { data.push_back(x); }\n};",
    '{"a": 1, "b": [1, 2',
    "title: A schema of notes\ntype: object\nproperties:\n  text:\n    description: What the note says.\n"
    "required:\n- text",
    "on: push\njobs:\n  test:\n    steps:\n      - run: make the docs and the tests",
    "# Which folders are searched.\n# The first one that has the file wins.\nset -e",
    "hi def link configDelimiter Delimiter\nhi def link configOperator Operator",
    "import os\nimport sys",
    '"""Words without their marks."""\n\nfrom text import words\n\n\ndef f(x):\n    return x',
    "cat <<'END'\nThe following files are new:\nEND",
    "/* All of these are in metres.\n * Those in feet are converted\n * by the reader. */",
    'Syntax 3\n\nSection."Screen" {\n\tFile "/dev/card.conf"\n\tComment "The card"\n}',
    "return <<'END';\nV104\nThe rest was cut off",
    "example = '''\\\nThe first line of it\nand the second one",
    "seed, 0xdeadbeaf\n0, 0xedc95200e2bd\n1, 0x581d4e43b768",
]
CODE = [PYTHON, JAVASCRIPT, SQL, HTML, C, DATA, *FORMS, "print('-' * 10)", "x = 5", "[1, 2, 3]"]
PROSE = [
    "The council voted 9 to 4. It will move to Mill Street (2 km away), where 300 square metres stand empty.",
    "Dear Ms Calder,\n\nthanks for your order: a lamp.\nWe ship it on 3 May.\n\nBest regards,\nThe team",
    "Paris (France)",
    "Rome, Italy",
    "not sure",
    "Rating: 4",
    "import duties",
    "If x = 5, then y = 7. For example: a, b and c.",
    "With this in mind:\n- first, the seller;\n- second, the buyer;\n- third, the bank.",
    "    Full fathom five thy father lies;\n    Of his bones are coral made;\n    Those are pearls:",
    "else we would have left",
    "dict=size gives the size of the dictionary that is kept in memory.",
    "Select a plan\nfrom the list\nand order by phone",
    "go home\nread a book\ntouch the grass",
    "steps:\n- mix the flour\n- add the milk",
    "Name: Anna\nCity: Bonn\nFood: rice",
    "red, green, blue\none, two, three\nhere, there, nowhere",
    "In 2019 [1] and 2020 [2], prices rose: see the table.",
    "Soup\n\nServes 4\n\nWarm it up (x = 5 minutes).\n\nEnjoy it",
]
PROSE_LIKE = [
    text
    for texts in yaml.safe_load(Path(__file__).with_name("prose_like_code.yaml").read_text("utf-8")).values()
    for text in texts
]


@pytest.mark.parametrize("text", CODE)
def test_code_is_no_prose(text: str) -> None:
    lines = text.splitlines()
    found = code_lines(lines, [True] * len(lines))
    assert all(found[i] for i, line in enumerate(lines) if line.strip())


@pytest.mark.parametrize("text", [*PROSE, *PROSE_LIKE])
def test_prose_is_no_code(text: str) -> None:
    lines = text.splitlines()
    assert not any(code_lines(lines, [True] * len(lines)))


def test_sentences_in_one_block_with_code_are_none() -> None:
    lines = [
        "This is how you add them:",
        "total = sum(prices)",
        "print(total)",
        "It also works for empty lists.",
    ]
    assert code_lines(lines, [True] * len(lines)) == [False, True, True, False]


@pytest.mark.parametrize("text", CODE)
@pytest.mark.parametrize("name", ["harmless", "random_typos", "random_deletions", "word_swaps", "reordering"])
def test_no_rule_damages_code_alone(name: str, text: str) -> None:
    with pytest.raises(NotApplicable):
        _edited(name, text)


@pytest.mark.parametrize(
    "name",
    ["harmless", "random_typos", "word_deletions", "sentence_insertion", "sentence_repetition", "reordering"],
)
def test_code_between_prose_stays_as_it_is(name: str) -> None:
    before = "Here is one way to do it. It's short, and it works in any version."
    after = "This takes 3 lines. Call it with a radius of 10 metres."
    for seed in range(5):
        changed = _edited(name, f"{before}\n\n{PYTHON}\n\n{after}", seed)
        assert PYTHON in changed
        ast.parse(PYTHON)


@pytest.mark.parametrize(
    "atom",
    [
        '<img src="a.png">',
        "/usr/lib/python",
        "docs/own-data.md",
        "1Z999AA10123456784",
        "me@mail.org",
        "max_tokens",
        "C:\\Users\\Anna",
        "backup.tar.gz",
        "192.168.0.1",
        "+44 20 7946 0018",
        "DE02 1203 0000 0000 2020 51",
        "--force",
        "SW1A 1AA",
        "example.org/path",
        "{{order}}",
        "f(x)",
        "fooBar",
        "#4711",
    ],
)
@pytest.mark.parametrize("name", ["random_typos", "random_deletions"])
def test_tags_paths_and_codes_have_no_typing_errors(name: str, atom: str) -> None:
    text = f"Please look at {atom} before you write to us about the parcel that was lost."
    for seed in range(20):
        assert atom in _edited(name, text, seed)


def _edited(name: str, text: str, seed: int = 0) -> str:
    perturber = builtin_perturbers()[name]
    extra: dict[str, object] = {"lists": read_list} if perturber.wants("lists") else {}
    if perturber.wants("others"):
        extra["others"] = [Example("o", "", "Rain fell over the hills. The boats stayed in port.")]
    if perturber.wants("language"):
        extra["language"] = "en"
    degree = next(iter(perturber.degrees.values()), {})
    result = perturber.function(text, Random(seed), **extra, **degree)
    return result.text if isinstance(result, Edited) else result


@pytest.mark.parametrize("formula", ["$a^2 + b_1 = c$", "\\\\(x > 0\\\\)"])
def test_a_formula_is_an_atom(formula: str) -> None:
    text = f"We know that {formula} holds for all of them, and it costs $5 or $6."
    shown = masked(text).text
    assert formula not in shown
    assert "$5 or $6" in shown


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01 10:02:11,331 INFO started on port 80\n2026-03-01 10:02:12,007 WARN disk full",
        "Jul  1 09:00:55 host kernel[0]: the link went down\nJul  1 09:01:05 host cron[43]: job done",
        "--- a/setup.py\n+++ b/setup.py\n@@ -1,2 +1,2 @@\n import os\n-name = 1\n+name = 2",
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"',
        'package main\n\nimport "fmt"\n\nvar hook func(*Command)\n\ntype byName []*Command',
        "use anyhow::{ensure, Result};\n\n#[repr(transparent)]\npub struct Mut {\n    n: u8,\n}",
        "all: main.o\n\tcc -o main main.o",
    ],
)
def test_logs_changes_and_settings_are_no_prose(text: str) -> None:
    lines = text.split("\n")
    marked = code_lines(lines, [True] * len(lines))
    assert all(is_code for is_code, line in zip(marked, lines, strict=True) if line)
