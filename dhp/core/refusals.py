"""Refusals of models to do what they are asked."""

import re

_CANNOT = (
    r"(?:can(?:no|')?t|can not|couldn't|won't|will not|(?:'m|am) (?:unable|not able|not going to)|refuse|"
    r"(?:must )?decline|(?:don't|do not) feel comfortable|(?:'m|am) not (?:comfortable|allowed|permitted))"
)
_JUDGE = r"(?:rated?|scored?|evaluated?|assess(?:ed)?|judged?|provided?|given?)"
_REFUSAL = re.compile(
    "|".join(
        (
            rf"\bi ?{_CANNOT}\b",
            r"\bi(?:'m| am) (?:\w+ ){0,2}(?:sorry|afraid)\b|\bi (?:must )?apologi[sz]e",
            rf"\b(?:sorry|apologies)\b.{{0,40}}\bi ?(?:{_CANNOT}|do not|don't|need|see)\b",
            r"\bas an? (?:ai|(?:large )?language model|artificial intelligence|responsible assistant)\b",
            rf"\b(?:unable|not able|(?:not |im)possible) to {_JUDGE}\b|\bcan ?not (?:be )?{_JUDGE}\b",
            r"\b(?:it|this) (?:is|would be) (?:not |in|im|un)(?:appropriate|ethical|possible)\b.{0,30}\bto\b",
            r"\bi (?:don't|do not) (?:see|have|find) (?:any|an?|the) "
            r"(?:text|summary|translation|answer|ending)\b",
            r"\b(?:please|(?:could|can) you(?: please)?) (?:provide|share|send|paste|give me) ",
            r"抱歉|对不起|无法|不能(?:评|给|提供|打)|拒绝",
            r"我不能.{0,12}(?:请求|要求|帮助|协助)|作为(?:一个|一名)?.{0,6}(?:ai|人工智能|语言模型)",
            r"\bes tut mir leid, (?:aber|das|ich)|\bleider kann ich|\blo siento, (?:pero|no)",
            r"\bje suis désolée?, (?:mais|je)",
        )
    ),
    re.I,
)
_BEFORE = re.compile(r"(?:\W|(?:well|oh|hello|hi|unfortunately|regrettably)\b)*", re.I)


def holds_refusal(text: str) -> bool:
    """Whether the text contains a refusal."""
    return _REFUSAL.search(text.replace("’", "'")) is not None


def is_refusal(text: str) -> bool:
    """Whether the text begins as refusals do, but for a word such as `unfortunately`."""
    plain = text.replace("’", "'")
    before = _BEFORE.match(plain)
    return _REFUSAL.match(plain, before.end() if before else 0) is not None
