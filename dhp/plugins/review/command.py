"""`dhp review`: write the page on which people review a set, or make a set of their reviews."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dhp.cli.command import Command
from dhp.cli.options import setting
from dhp.cli.output import say
from dhp.cli.perturb import PerturbOutput
from dhp.cli.protocol_options import DATASET
from dhp.core.checks import exclusive, requires
from dhp.core.errors import InputError
from dhp.core.writing import check_output, write_lines
from dhp.report.document import Column, Part, Table
from dhp.report.labels import percent, percents

if TYPE_CHECKING:
    from dhp.perturb.sets import ReviewedKind, SetReview
    from dhp.plugins.review.reviews import ReviewableSet


@click.command(
    cls=Command,
    rules=(exclusive("page", "reviewed"), requires("dataset", "page"), requires("freeze", "reviewed")),
)
@click.argument("folder", metavar="SET")
@click.option("--page", metavar="FILE.html", help="Write the page on which a person reviews the set.")
@DATASET
@click.option(
    "--reviewed",
    multiple=True,
    metavar="FILE.json",
    help="A review that the page saved; one for each reviewer.",
)
@setting(PerturbOutput, "freeze")
def review(
    folder: str, page: str | None, dataset: tuple[str, ...], reviewed: tuple[str, ...], freeze: str | None
) -> None:
    """Let people review degraded texts: was the damage damage?

    SET is a folder of dhp perturb --freeze. Send the page to reviewers; with --dataset, the data of the set,
    it shows what the writers had. The files that reviewers save say how much damage is really worse, and make
    a set without the texts that they reject, which --freeze writes.

    Example: dhp review my-set --page review.html
    """
    from dhp.plugins.review.reviews import read_reviewable

    if page is None and not reviewed:
        raise InputError("say what to do: --page FILE.html, or --reviewed FILE.json")
    reviewable = read_reviewable(Path(folder))
    if page is not None:
        _write_page(reviewable, page, dataset)
    else:
        _use_reviews(reviewable, reviewed, freeze)


def _write_page(reviewable: "ReviewableSet", page: str, dataset: Sequence[str]) -> None:
    from dhp.plugins.review.reviews import examples_with_sources, review_page

    check_output(Path(page))
    examples = examples_with_sources(reviewable, dataset) if dataset else {}
    write_lines(Path(page), [review_page(reviewable, examples)])
    say(f"{page}: {len(reviewable.pairs)} texts to review, set {reviewable.hash[:12]}")


def _use_reviews(reviewable: "ReviewableSet", files: Sequence[str], freeze: str | None) -> None:
    from dhp.perturb.sets import check_free, write_set
    from dhp.plugins.review.reviews import read_reviews, reviewed_parts, summary

    if freeze is not None:  # before the files are read, which may be many
        check_free(Path(freeze))
    reviews = read_reviews(files, reviewable)
    review_summary = summary(reviewable, reviews)
    say(*_summary_parts(review_summary))
    if freeze is not None:
        parts = reviewed_parts(reviewable, reviews)
        write_set(Path(freeze), parts, review_summary)
        count = 0
        for part in parts:
            for text in part.texts:
                if text.text is not None:
                    count += 1
        say(f"{count} texts frozen in {freeze}")


def _summary_parts(set_review: "SetReview") -> Iterator[Part]:
    for name, count in set_review.reviewers.items():
        open_texts = set_review.texts - count
        open_note = f", {open_texts} not reviewed, which stay as they are" if open_texts else ""
        yield f"{name}: {count} of {set_review.texts} texts reviewed{open_note}"
    yield f"rejected: {set_review.rejected}, edited by hand: {set_review.by_hand}"
    if len(set_review.reviewers) > 1:
        alpha = "undefined" if set_review.alpha is None else f"{set_review.alpha:.2f}"
        yield f"agreement on which text is worse: Krippendorff's alpha {alpha}"
    yield _kinds_table(set_review)


def _kinds_table(set_review: "SetReview") -> "Table[ReviewedKind]":
    """A row for each kind of damage."""
    from dhp.content.catalog import variant_name

    # Kinds of one set need no name of the set before them.
    one_set = len({kind.dataset for kind in set_review.kinds}) == 1

    def name(kind: "ReviewedKind") -> str:
        return variant_name(kind.variant) if one_set else f"{kind.dataset}: {variant_name(kind.variant)}"

    columns: list[Column[ReviewedKind]] = [
        Column("kind", name, names=True, right=False),
        Column("texts", lambda kind: kind.texts),
        Column("really worse", lambda kind: kind.worse, percent),
        Column("95 %", lambda kind: kind.low, words=_limits),
        Column("same", lambda kind: kind.same, percent),
        Column("better", lambda kind: kind.better, percent),
    ]
    return Table("", columns, set_review.kinds)


def _limits(kind: "ReviewedKind") -> str:
    if kind.low is None or kind.high is None:
        return percents(None)
    return percents((kind.low, kind.high))
