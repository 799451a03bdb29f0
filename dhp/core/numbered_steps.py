"""Numbered lists of steps in what a model has written."""

import re

from dhp.core.reasoning import without_reasoning

_HAN = "一二三四五六七八九十"
# "1. Read the text.", "**Step 2:** Compare.", "(3) Rate.", "第四步：评分"
_ITEM = re.compile(
    rf"([ \t]*)[*#_]{{0,6}}[ \t]*[(（]?(?:step[ \t]*|第)?(?:\d{{1,2}}|[{_HAN}]{{1,3}})步?"
    r"[ \t]*[.):：、）](?!\d)[*_ \t]*(\S.*)",
    re.I,
)


def numbered_steps(text: str) -> list[str]:
    """The steps of the numbered list in an answer, without their numbers; empty if there is none.

    A step goes on over the lines below it, up to a blank one.
    """
    steps: list[str] = []
    margin, inside = "", False
    for line in (without_reasoning(text) or "").splitlines():
        item = _ITEM.fullmatch(line.rstrip())
        # A number further in than the list is part of a step.
        if item and (not steps or len(item[1]) <= len(margin)):
            margin, inside = item[1], True
            steps.append(item[2])
        elif inside and line.strip():
            steps[-1] += f" {line.strip()}"
        else:
            inside = False
    plain = (step.replace("**", "").strip() for step in steps)
    return [step for step in plain if step]
