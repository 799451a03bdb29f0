"""Papers of the method, with the facts that the papers themselves and their reference lists give."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Work:
    """What a reference says; an empty field is left out."""

    key: str
    authors: str
    """As BibTeX takes them; `others` if not all are known."""
    title: str
    year: int | None
    venue: str = ""
    """Name of the proceedings or the journal."""
    url: str = ""
    note: str = ""


SOFTWARE = Work(
    "dhp",
    "{The authors of dhp}",
    "dhp: can an LLM judge tell good text from the same text made worse?",
    None,
)
BENCHMARK = Work(
    "wang2025dhp",
    "Wang, Yicheng and Yuan, Jiayi and Chuang, Yu-Neng and Wang, Zhuoer and Liu, Yingchi and Cusick, Mark "
    "and Kulkarni, Param and Ji, Zhengping and Ibrahim, Yasser and Hu, Xia",
    "DHP Benchmark: Are LLMs Good NLG Evaluators?",
    2025,
    "Findings of the Association for Computational Linguistics: NAACL 2025",
    "https://aclanthology.org/2025.findings-naacl.451",
)
PROTOCOLS = {
    "Wang et al. 2025": BENCHMARK,
    "Liu et al. 2023": Work(
        "liu2023geval",
        "Liu, Yang and Iter, Dan and Xu, Yichong and Wang, Shuohang and Xu, Ruochen and Zhu, Chenguang",
        "G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment",
        2023,
        "EMNLP",
        "https://arxiv.org/abs/2303.16634",
    ),
    "Chiang and Lee 2023": Work(
        "chiang2023closer",
        "Chiang, Cheng-Han and Lee, Hung-yi",
        "A Closer Look into Automatic Evaluation Using Large Language Models",
        2023,
        "Findings of EMNLP",
    ),
    "Wang et al. 2023": Work(
        "wang2023chatgpt",
        "Wang, Jiaan and Liang, Yunlong and Meng, Fandong and Sun, Zengkui and Shi, Haoxiang and Li, Zhixu "
        "and Xu, Jinan and Qu, Jianfeng and Zhou, Jie",
        "Is ChatGPT a Good NLG Evaluator? A Preliminary Study",
        2023,
        "NewSumm",
        "https://arxiv.org/abs/2303.04048",
    ),
    "Shen et al. 2023": Work(
        "shen2023evaluators",
        "Shen and others",
        "Large Language Models are Not Yet Human-Level Evaluators",
        2023,
        "Findings of EMNLP",
    ),
}
"""What the record of a protocol names as published -> the paper."""
