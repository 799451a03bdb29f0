"""Whom a text is about, and how it would speak of a person of the other sex."""

from dhp.perturb.edits import Edit
from dhp.perturb.facts.lists import LETTERS, FactLists


def other_sex(prose: str, lists: FactLists) -> tuple[Edit, ...]:
    """The edits by which "he" is "she" throughout a text; none if the text would not contradict itself.

    It does if it speaks of one sex alone, also by words that stay: "his", "gentleman", a given name. All
    pronouns change, as a text that has both would show by that.
    """
    pronouns = [match for match in LETTERS.finditer(prose) if match[0].lower() in lists.other_pronouns]
    if not pronouns:
        return ()
    # The sexes that pronouns tell, and those that words tell which stay as they are.
    changing = {lists.sex_of(match[0]) for match in pronouns}
    staying = set[str]()
    for word in LETTERS.findall(prose):
        if word.lower() not in lists.other_pronouns:
            staying.add(lists.sex_of(word))
    staying.discard("")
    if len(changing) > 1 or staying != changing:
        return ()

    edits = list[Edit]()
    for match in pronouns:
        new = lists.other_pronouns[match[0].lower()]
        edits.append((*match.span(), new.capitalize() if match[0][0].isupper() else new))
    return tuple(edits)
