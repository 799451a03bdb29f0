"""How answers are evaluated by category: the content that ships with the package."""

from pathlib import Path

from dhp.content.catalog import named_file, names_in
from dhp.content.yaml import content_folder, load_spec
from dhp.core.eval_spec import EvaluationContent
from dhp.core.protocol_spec import Protocol
from dhp.core.specs import LANGUAGES, Language


def evaluation_languages() -> list[Language]:
    """The languages that the content is in."""
    there = names_in(content_folder("protocols") / "evaluation")
    return [language for language in LANGUAGES if language in there]


def read_evaluation(language: Language) -> EvaluationContent:
    """Categories and metrics in a language."""
    folder = content_folder("protocols") / "evaluation"
    return load_spec(named_file("language of evaluations", folder, language), EvaluationContent)


def evaluation_protocol() -> Protocol:
    """How the judge is asked for a score."""
    return load_spec(content_folder("protocols") / "evaluation" / "evaluate.yaml", Protocol)


def questions_file(language: Language) -> Path:
    """Example questions, five a category, in the form of ColossalEval's target files."""
    return content_folder("datasets") / "questions" / f"{language}.json"
