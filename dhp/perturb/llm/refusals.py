"""Whether an answer declines to do what was asked."""

import re

_CANNOT = (
    r"(?:can(?:no|')?t|can not|couldn't|won't|will not|(?:'m|am) (?:unable|not able)|must decline|refuse|"
    r"decline|(?:don't|do not) feel comfortable|(?:'m|am) not (?:comfortable|allowed|permitted|going))"
)
_TASK = (
    r"(?:help|assist|comply|fulfil\w*|do (?:this|that|so)|provide|create|generate|produce|revise|rewrite|"
    r"alter|introduce|modify|insert|replace|complete|perform|carry out|fabricate|spread|this|that request|"
    r"make (?:the|this|these|any|that)|with (?:this|that))"
)
_SORRY = r"(?:i(?:'m| am) (?:\w+ ){0,2}(?:sorry|afraid)|sorry|(?:my )?apologies|i (?:must )?apologi[sz]e)"
_REFUSALS = tuple(
    re.compile(r"(?:\W|(?:well|oh|hello|hi|unfortunately|regrettably)\b)*" + pattern, re.I)
    for pattern in (
        rf"{_SORRY}\b.{{0,40}}\bi ?(?:{_CANNOT}|do not|don't|need|see)\b",
        rf"i ?{_CANNOT}\b.{{0,30}}\b{_TASK}\b",
        r"as an? (?:ai|large language|language model|artificial intelligence|responsible assistant)\b",
        r"(?:it|this) (?:is not|isn't|would not be|wouldn't be|is in|would be in)\s?"
        r"(?:appropriate|ethical|possible)\b.{0,30}\bto\b",
        r"i (?:don't|do not) (?:see|have|find) (?:any|a|the) (?:text|summary|translation|answer|ending)\b",
        r"(?:please|(?:could|can) you(?: please)?) (?:provide|share|send|paste|give me) ",
        r"(?:很|非常)?(?:抱歉|对不起).{0,12}(?:不能|无法)|我(?:无法|不能).{0,12}(?:请求|要求|帮助|协助|提供)",
        r"作为(?:一个|一名)?.{0,6}(?:ai|人工智能|语言模型)",
        r"es tut mir leid, (?:aber|das|ich)|leider kann ich|lo siento, (?:pero|no)",
        r"je suis désolée?, (?:mais|je)",
    )
)


def is_refusal(text: str) -> bool:
    """Whether the text begins as refusals do."""
    plain = text.replace("’", "'")
    return any(pattern.match(plain) for pattern in _REFUSALS)
