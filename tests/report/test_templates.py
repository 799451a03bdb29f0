"""All templates of pages can be read: no filter and no macro is named that does not exist."""

from pathlib import Path

import pytest

import dhp
from dhp.report.web import _environment

TEMPLATES = sorted(Path(dhp.__file__).parent.rglob("assets/*.html"))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_a_template_can_be_read(template: Path) -> None:
    assert _environment(template.parent).get_template(template.name)
