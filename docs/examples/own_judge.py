"""A judge that is a function of your own: which damage does it see?"""

import dhp


def word_overlap(output: str, source: str) -> float:
    """The share of the words of a summary that stand in its article."""
    words, known = output.lower().split(), set(source.lower().split())
    return sum(word in known for word in words) / max(len(words), 1)


if __name__ == "__main__":
    settings = dhp.JudgeSettings(scale=(0, 1))
    results = dhp.run(word_overlap, "mini/summeval", judge_settings=settings)
    print(results)
    for row in results.variants:
        print(f"{row.variant:32} {row.detection:4.0%}  {row.verdict}")
