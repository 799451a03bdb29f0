"""Answers for the stub server, by the prompt."""


def by_length(prompt: str) -> str:
    """A score from 1 to 10."""
    return str(1 + len(prompt) % 10)


def pass_or_fail(prompt: str) -> str:
    """A verdict with a reason."""
    return f"It reads well enough.\n\nVerdict: {'PASS' if len(prompt) % 2 else 'FAIL'}"


def as_json(prompt: str) -> str:
    """Two scores from 1 to 5 in a fence."""
    return f'```json\n{{"tone": {1 + len(prompt) % 5}, "clarity": {{"score": {1 + len(prompt) % 4}}}}}\n```'


def too_long(prompt: str) -> str:
    """Scores that lie outside 1 to 5."""
    return str(7 + len(prompt) % 2)


def thinking(prompt: str) -> str:
    """Seven hundred words of thought, then a score from 1 to 10."""
    return f"<think>{'hm ' * 700}</think>\nRating: {1 + len(prompt) % 10}"


def rambling(prompt: str) -> str:
    """No score at all."""
    return "I have many thoughts about this text, and none of them is a number."


def louder(prompt: str) -> str:
    """The text that is to be said, in capital letters."""
    return prompt.removeprefix("Say it: ").upper()
