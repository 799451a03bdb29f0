"""A dataset: examples with their task and the suite that degrades them.

A loader makes a `Dataset` of all examples that it reads, which are its pool. `in_languages` gives each output
its language, `only` and `chosen` take some of the examples. Each returns a new dataset.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from statistics import fmean

from dhp.content.catalog import GENERAL_SUITE, read_suite, read_task
from dhp.core.errors import InputError, unique
from dhp.core.language import declared_language, text_language
from dhp.core.options import near_keywords
from dhp.core.records import Example, PerturbedText, Variant
from dhp.core.seeding import key_digest
from dhp.core.sentences import sentences
from dhp.core.specs import ANY_TASK, Figures, Suite, Task
from dhp.core.words import words

Split = Callable[[Example], tuple[Sequence[str], Callable[[Sequence[str]], str]]]
"""An example -> the texts within its output that may be changed, and what makes an output of changed ones."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """Examples with their task and the suite that degrades them."""

    name: str
    """Name of the dataset, in results and in the key of every random stream."""
    examples: Sequence[Example]
    """Chosen examples of the dataset."""
    task: Task
    """Task of the writers, with the metrics."""
    suite: Suite | None
    """Suite of perturbers; None if degraded texts came ready-made."""
    pool: Sequence[Example]
    """All eligible examples, chosen or not; `random_ending` and `random_answer` draw from them."""
    pair_variants: tuple[Variant, ...] = ()
    """Variants of the degraded texts that came with the data."""
    pairs: Sequence[PerturbedText] = ()
    """Degraded texts that came with the data."""
    notes: tuple[str, ...] = ()
    """Notes on the texts for readers of the results."""
    split: Split | None = None
    """How rules of characters, words and sentences and probes get at what may be changed, if the output holds
    more than that."""

    def __post_init__(self) -> None:
        place = f"dataset '{self.name}'"
        if self.suite is not None and self.suite.task not in (self.task.task, ANY_TASK):
            raise InputError(
                f"{place}: suite '{self.suite.suite}' is for task '{self.suite.task}', not '{self.task.task}'"
            )
        if not self.examples:
            raise InputError(f"{place} has no examples")
        unique("id", map(self._checked_id, self.examples), place)

    def _checked_id(self, example: Example) -> str:
        """The id of an example; raises `InputError` for one that its task cannot use."""
        place = f"dataset '{self.name}': example '{example.id}'"
        if not example.output.strip():
            raise InputError(f"{place}: the output text is empty")
        for needed in self.task.required_fields:
            if not example.fields.get(needed):
                raise InputError(
                    f"{place}: task '{self.task.task}' needs a field '{needed}', the column or "
                    f"--field {needed}=COLUMN"
                )
        return example.id

    def __repr__(self) -> str:
        return f"Dataset({self.name}, {len(self.examples)} examples, task {self.task.task})"

    @property
    def suite_name(self) -> str:
        """Name of the suite, for tables and signatures."""
        return self.suite.suite if self.suite else "given"

    @property
    def changeable_pool(self) -> Sequence[Example]:
        """The pool, of outputs only what may be changed."""
        if self.split is None:
            return self.pool
        changeable = []
        for example in self.pool:
            # The second value puts changed texts back; here only the texts are wanted.
            parts, _ = self.split(example)
            changeable.append(replace(example, output="\n\n".join(parts)))
        return tuple(changeable)

    @classmethod
    @near_keywords
    def of(
        cls,
        examples: Sequence[Example],
        *,
        name: str,
        task: str,
        suite: str | None = None,
        language: str | None = None,
    ) -> "Dataset":
        """A dataset of your own examples; `task` names their task, `suite` defaults to `general`.

        `language` is that of the outputs, if a field `language` of an example does not say it.
        """
        known_task, all_examples = read_task(task), tuple(examples)
        known_suite = read_suite(suite or GENERAL_SUITE)
        dataset = cls(name, all_examples, known_task, known_suite, pool=all_examples)
        return dataset.in_languages(None, language or known_task.output_language)

    def in_languages(self, source: str | None, output: str | None) -> "Dataset":
        """The dataset as it was read, with the language of each output and both languages in its task.

        The field `language` of an example comes before `output`, the language that is declared for all. If
        neither says it, a script that only one language uses does.
        """
        known = []
        for example in self.examples:
            declared = example.fields.get("language") or output
            known.append(replace(example, language=text_language(example.output, declared)))
        examples = tuple(known)
        task = _naming(self.task, examples, source, output)
        return replace(self, examples=examples, pool=examples, task=task)

    @property
    def clusters(self) -> dict[str, str]:
        """Example -> the cluster that it is in: its field `cluster`, or the examples of the same source.

        Empty if every example stands alone.
        """
        firsts: dict[bytes, str] = {}  # hash of a source, as sources are long -> its first example
        cluster_of = {}
        for example in self.examples:
            source = example.source.strip()
            cluster = example.id
            if source:
                cluster = firsts.setdefault(key_digest(source), example.id)
            cluster_of[example.id] = example.fields.get("cluster") or cluster
        # Fewer clusters than examples: two examples at least are in one.
        some_share = len(set(cluster_of.values())) < len(cluster_of)
        return cluster_of if some_share else {}

    def only(self, ids: Collection[str]) -> "Dataset":
        """The dataset with only the examples of these ids; raises `InputError` for an unknown id."""
        wanted = set(ids)
        unknown = sorted(wanted - {example.id for example in self.examples})
        if unknown:
            raise InputError(
                f"dataset '{self.name}': has no example '{unknown[0]}', which the perturbation set is of"
            )
        examples = tuple(example for example in self.examples if example.id in wanted)
        return replace(self, examples=examples)

    def chosen(self, n: int, seed: int) -> "Dataset":
        """The dataset with `n` of its examples, chosen by `seed`."""
        # All of them: there is nothing to choose.
        if n == len(self.examples):
            return self
        # The pool stays whole: perturbers may draw from examples that were not chosen.
        examples = select(self.examples, n, seed=seed, dataset=self.name)
        ids = {example.id for example in examples}
        pairs = tuple(text for text in self.pairs if text.example in ids)
        return replace(self, examples=examples, pairs=pairs)


def select(examples: Sequence[Example], n: int, *, seed: int, dataset: str) -> Sequence[Example]:
    """`n` examples by the rank of sha256 of (seed, dataset, id), in the order in which they came.

    Which ones they are depends on the set of ids alone, not on their order. Raises `InputError` unless
    1 <= n <= len(examples).
    """
    if n < 1:
        raise InputError(f"{dataset}: n is {n}; allowed: 1 to {len(examples)}")
    if n > len(examples):
        raise InputError(
            f"{dataset}: {n} examples asked for, {len(examples)} there; allowed: 1 to {len(examples)}"
        )
    # By rank, and not by drawing: a larger n keeps those that a smaller one has chosen.
    ids = [example.id for example in examples]
    chosen = set(nsmallest(n, ids, key=lambda name: key_digest(seed, dataset, name)))
    return tuple(example for example in examples if example.id in chosen)


def measure(examples: Sequence[Example]) -> Figures:
    """Mean number of characters, words and sentences of the outputs; no example raises `InputError`."""
    if not examples:
        raise InputError("no examples to measure; allowed: at least one")
    return Figures(
        characters=fmean(len(e.output) for e in examples),
        words=fmean(len(words(e.output)) for e in examples),
        sentences=fmean(len(sentences(e.output)) for e in examples),
    )


def _naming(task: Task, examples: Sequence[Example], source: str | None, output: str | None) -> Task:
    """The task with the languages of the data, if its instruction names them."""
    if not task.names_languages:
        return task
    source = source or task.source_language or _common(examples, "source_language")
    output = output or task.output_language or _common(examples, "language")
    languages = {
        "source_language": declared_language(source),
        "output_language": declared_language(output),
    }
    return task.model_copy(update=languages)


def _common(examples: Sequence[Example], field: str) -> str | None:
    """The value of a field that is the same in all examples; None without one."""
    values = {example.fields.get(field) for example in examples}
    # The only value, which is None if no example has the field.
    return values.pop() if len(values) == 1 else None
