"""Names of languages, and the language of a text: declared, or told by its script."""

import re
from collections.abc import Mapping

NAMES: Mapping[str, tuple[str, str]] = {
    "ar": ("Arabic", "阿拉伯语"),
    "bn": ("Bengali", "孟加拉语"),
    "cs": ("Czech", "捷克语"),
    "da": ("Danish", "丹麦语"),
    "de": ("German", "德语"),
    "el": ("Greek", "希腊语"),
    "en": ("English", "英语"),
    "es": ("Spanish", "西班牙语"),
    "et": ("Estonian", "爱沙尼亚语"),
    "fa": ("Persian", "波斯语"),
    "fi": ("Finnish", "芬兰语"),
    "fr": ("French", "法语"),
    "he": ("Hebrew", "希伯来语"),
    "hi": ("Hindi", "印地语"),
    "hu": ("Hungarian", "匈牙利语"),
    "id": ("Indonesian", "印度尼西亚语"),
    "is": ("Icelandic", "冰岛语"),
    "it": ("Italian", "意大利语"),
    "ja": ("Japanese", "日语"),
    "km": ("Khmer", "高棉语"),
    "ko": ("Korean", "韩语"),
    "lo": ("Lao", "老挝语"),
    "lt": ("Lithuanian", "立陶宛语"),
    "lv": ("Latvian", "拉脱维亚语"),
    "my": ("Burmese", "缅甸语"),
    "nl": ("Dutch", "荷兰语"),
    "no": ("Norwegian", "挪威语"),
    "pl": ("Polish", "波兰语"),
    "pt": ("Portuguese", "葡萄牙语"),
    "ro": ("Romanian", "罗马尼亚语"),
    "ru": ("Russian", "俄语"),
    "sv": ("Swedish", "瑞典语"),
    "sw": ("Swahili", "斯瓦希里语"),
    "ta": ("Tamil", "泰米尔语"),
    "th": ("Thai", "泰语"),
    "tr": ("Turkish", "土耳其语"),
    "uk": ("Ukrainian", "乌克兰语"),
    "ur": ("Urdu", "乌尔都语"),
    "vi": ("Vietnamese", "越南语"),
    "zh": ("Chinese", "中文"),
}
"""Code of ISO 639 -> the name in English and in Chinese, the languages in which judges are asked."""
_CODES = {name.lower(): code for code, (name, _) in NAMES.items()}
_TAG = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]+)*", re.I)  # de, pt_BR, zh-Hant-TW
# A letter of any script.
_LETTER = re.compile(r"[^\W\d_]")
_KANA = "\u3041-\u3096\u30a1-\u30fa\u31f0-\u31ff\uff66-\uff9d"
HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
CJK = r"\u3040-\u30ff\u3400-\u9fff"
"""Letters of Chinese and Japanese that stand without spaces, as in a class of a regular expression."""
_SCRIPTS = {
    "el": "\u0370-\u03ff\u1f00-\u1fff",
    "ko": "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3",
    "th": "\u0e00-\u0e7f",
    "lo": "\u0e80-\u0eff",
    "my": "\u1000-\u109f",
    "km": "\u1780-\u17ff",
    "cjk": _KANA + HAN,
}
_OF_ONE_LANGUAGE = {language: re.compile(f"[{letters}]") for language, letters in _SCRIPTS.items()}
"""Scripts that only one language uses; kana distinguish Japanese from Chinese."""
_LEAST_KANA = 0.1
"""Share of kana, among kana and Chinese characters, from which a text is Japanese."""
WITHOUT_SPACES = frozenset("zh ja th lo km my".split())
"""Languages that set no space between words."""


def declared_language(name: str | None) -> str | None:
    """The code of a language that is given as a tag (`de`, `zh-Hant`) or by its English name.

    Any other text is returned in lower case: no perturber knows such a language. None stays None.
    """
    if name is None or not name.strip():
        return None
    plain = name.strip().lower()
    if plain in _CODES:
        return _CODES[plain]
    tag = _TAG.fullmatch(plain)
    return tag[1] if tag else plain


def text_language(text: str, declared: str | None = None) -> str | None:
    """The language of a text: the declared one, else the only one that is written in its script.

    None if more than one language is written in the script that most letters are of (Latin, Cyrillic,
    Arabic, Devanagari and others), and for a text without letters.
    """
    known = declared_language(declared)
    if known is not None:
        return known
    # Latin letters alone, in which many languages are written.
    if text.isascii():
        return None
    letters = len(_LETTER.findall(text))
    for language, script in _OF_ONE_LANGUAGE.items():
        of_script = script.findall(text)
        # A block of a script holds marks, too; only its letters may outnumber those of other scripts.
        letters_of_script = [character for character in of_script if character.isalpha()]
        # Half of the letters or fewer: a name or a quotation in a text of another script.
        if 2 * len(letters_of_script) <= letters:
            continue
        if language != "cjk":
            return language
        kana = len(re.findall(f"[{_KANA}]", text))
        return "ja" if kana >= _LEAST_KANA * len(of_script) else "zh"
    return None


def language_name(code: str | None, language: str = "en") -> str:
    """What a language is called in English or Chinese; its code if no name is known, `` for None."""
    if code is None or code not in NAMES:
        return code or ""
    english, chinese = NAMES[code]
    return chinese if language == "zh" else english
