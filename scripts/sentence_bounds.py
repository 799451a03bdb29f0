"""Compare ways of finding the ends of sentences, on texts in nine languages that were written for this
purpose.

Run it from the checkout: python scripts/sentence_bounds.py. Packages that are not installed are left out; for
the others: pip install pysbd uniseg.
"""

import time
from collections.abc import Callable, Iterable
from importlib.util import find_spec

from dhp.core.sentences import sentences

Split = Callable[[str, str], Iterable[str]]

TEXTS: dict[str, list[str]] = {
    "de": [
        "Die Abgabefrist endet zum 1. April. |Danach werden keine Anträge mehr angenommen.",
        "Am 3. Oktober 1990 wurde Deutschland wiedervereinigt. |Seitdem ist der Tag ein Feiertag.",
        "Das kostet z. B. 4,50 Euro, d. h. etwas mehr als früher. |Dr. Weber findet das zu teuer.",
        "Im 19. Jahrhundert wuchs die Stadt schnell. |Kaiser Wilhelm II. besuchte sie zweimal.",
        "„Kommst du mit?“, fragte Anna. |„Nein!“, rief er. |Dann ging sie allein.",
        "Der 2. Weltkrieg endete 1945. |Die Firma Müller & Co. KG zog nach Bonn.",
        "Er wohnt in der Bahnhofstr. 12 und arbeitet ca. 30 Stunden. |Mehr will er nicht.",
        "Wann beginnt der Kurs? |Er beginnt am 15. |Das steht im Brief.",
        "Vgl. Abb. 3 auf S. 17. |Dort sind u. a. die Werte von 2019 zu sehen.",
    ],
    "es": [
        "El Sr. García llegó a las 8 a. m. del lunes. |La reunión ya había empezado.",
        "¿Quién lo sabe? |¡Nadie! |Así terminó la historia.",
        "La Dra. López vive en EE. UU. desde 1998. |Trabaja en un hospital.",
        "Compró pan, leche, huevos, etc. y volvió a casa. |Después llamó a su madre.",
        "Según la pág. 14, el precio subió un 3,5 %. |Nadie protestó.",
        "—No vengas —dijo Marta—. |Él no contestó.",
        "Ud. debe firmar aquí. |Luego puede irse.",
    ],
    "zh": [
        "他问：“你去哪儿？”|我没有回答。|天已经黑了。",
        "价格是3.5元。|这比去年贵了百分之十！",
        "“太好了！”她说。|我们都笑了。",
        "今天下雨了……|他没有带伞。|你呢？",
        "第一章讲历史；第二章讲地理。|第三章还没有写完。",
    ],
    "ja": [
        "昨日は雨でした。|今日は晴れています。|どこへ行きますか？",
        "「もう帰るの？」と母が聞いた。|私は黙っていた。",
        "彼は「行かない。」と言った。|それで終わりだった。",
        "価格は3.5ドルです！|高すぎます。",
        "モーニング娘。のコンサートに行った。|楽しかった。",
    ],
    "ar": [
        "وصل القطار متأخراً. |لم يكن أحد في المحطة.",
        "هل رأيت أخي؟ |لا، لم أره اليوم!|",
        "قال د. أحمد إن السعر ارتفع بنسبة 3.5 بالمئة. |ثم سكت الجميع.",
        "بدأت الدراسة في 1 سبتمبر؛ وانتهت في يونيو. |كانت سنة طويلة.",
    ],
    "en": [
        "Dr. Smith paid $3.50 at 5 p.m. on Monday. |Then he left.",
        "The U.S. economy grew. |Nobody knew why, e.g. in Ohio.",
        '"Are you there?" she asked. |He was not.',
        "It was No. 7 on the list. |See Fig. 3 for details.",
    ],
    "fr": [
        "M. Dupont habite à Paris. |Il travaille p. ex. le lundi.",
        "« Tu viens ? » demanda-t-elle. |Non ! |Il partit.",
    ],
    "ru": ["Он родился в 1970 г. в Москве. |Потом он уехал.", "Где ты был? |Я ждал тебя до 5 часов."],
    "hi": ["वह घर गया। |उसने खाना खाया। |क्या तुम आओगे?"],
}
"""Language -> texts; `|` stands at the bounds of sentences."""


def ends(pieces: Iterable[str], text: str) -> set[int]:
    """Where the pieces end in the text, but for the last one."""
    found, position = set(), 0
    for piece in filter(None, map(str.strip, pieces)):
        position = text.index(piece, position) + len(piece)
        found.add(position)
    return found - {len(text.rstrip())}


def ways() -> dict[str, Split]:
    """The ways that are installed, by name."""
    found: dict[str, Split] = {"Punkt, our rules": lambda _, text: sentences(text)}
    if find_spec("pysbd"):
        import pysbd

        known = {code: pysbd.Segmenter(language=code, clean=False) for code in TEXTS}
        found["pysbd"] = lambda code, text: known[code].segment(text)
    if find_spec("uniseg"):
        from uniseg.sentencebreak import sentences as of_uniseg

        found["uniseg"] = lambda _, text: of_uniseg(text)
    if find_spec("sentencex"):
        from sentencex import segment

        found["sentencex"] = segment
        found["sentencex and our rules"] = lambda code, text: sentences(text, code)
    return found


def main() -> None:
    """Print, for each way, in how many texts of each language all bounds are right, and its speed."""
    long = " ".join(text.replace("|", "") for text in TEXTS["de"]) * 20
    for name, split in ways().items():
        right = []
        for code, marked in TEXTS.items():
            hits = 0
            for text in marked:
                plain = text.replace("|", "")
                hits += ends(split(code, plain), plain) == ends(text.split("|"), plain)
            right.append(f"{code} {hits}/{len(marked)}")
        started = time.perf_counter()
        list(split("de", long))
        speed = len(long) / (time.perf_counter() - started) / 1e6
        print(f"{name:26} {'  '.join(right)}  {speed:.2f} MB/s")


if __name__ == "__main__":
    main()
