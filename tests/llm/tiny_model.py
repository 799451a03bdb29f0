"""A real but tiny language model, built in a second: Llama of two layers, BPE tokenizer, chat template.

Its weights are random, with what the layers add scaled down so that the last token matters more than the
prompt before it. Then a direction that tells hidden states at the start of an answer from those after a digit
is fitted by least squares and added to the output rows of the digits 1 to 5, and the opposite one to that of
the end token. So a judge on it mostly answers with a digit and ends; which digit depends on the prompt.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

END = "<|end|>"
CONTEXT = 4096
_TEMPLATE = (
    "{% for message in messages %}"
    "{% if message.role == 'system' %}<|system|>{% elif message.role == 'user' %}<|user|>"
    "{% else %}<|assistant|>{% endif %}\n{{ message.content }}<|end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
_WORDS = (
    "the a of to and in on for with that is was text summary source story answer question score rate clear "
    "fluent coherent relevant consistent fact claim reader writer sentence word river doctor market winter "
    "kitchen letter seven bridges rain window old new small bright slow reads finds writes loses keeps opens"
).split()
_BONUS = 16.0
_DAMPED = 0.03


def sentences(number: int, seed: int = 0) -> list[str]:
    """Made-up text of the words the tokenizer knows."""
    rng = random.Random(seed)
    return [" ".join(rng.choices(_WORDS, k=rng.randint(5, 14))).capitalize() + "." for _ in range(number)]


def build_tokenizer() -> Any:
    """A byte-level BPE tokenizer of 600 tokens with control tokens and a chat template."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<|pad|>", "<|system|>", "<|user|>", "<|assistant|>", END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    scores = [f"Score: {i % 5 + 1}\n{i % 5 + 1}." for i in range(200)]
    tokenizer.train_from_iterator(sentences(300) + scores, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token="<|pad|>", chat_template=_TEMPLATE
    )


def build_network(tokenizer: Any, **changes: Any) -> Any:
    """Two layers of Llama with fixed random weights, as described above."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=32,
        max_position_embeddings=CONTEXT,
        initializer_range=0.5,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        **changes,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = LlamaForCausalLM(config).eval()
    network.generation_config.do_sample = True
    _make_it_score(network, tokenizer)
    return network


def _make_it_score(network: Any, tokenizer: Any) -> None:
    import torch

    texts = sentences(60, seed=1)
    texts += [" ".join(texts[:n]) for n in range(2, 60)]
    prompts = [
        tokenizer.apply_chat_template(
            [{"role": "user", "content": text}], add_generation_prompt=True, tokenize=False
        )
        for text in texts
    ]

    def states(answer: str) -> Any:
        rows = [tokenizer(prompt + answer, return_tensors="pt")["input_ids"] for prompt in prompts]
        return torch.cat([network.model(input_ids=row).last_hidden_state[:, -1] for row in rows])

    with torch.no_grad():
        for layer in network.model.layers:
            layer.self_attn.o_proj.weight *= _DAMPED
            layer.mlp.down_proj.weight *= _DAMPED
        start, after = states(""), torch.cat([states(digit) for digit in "135"])
        which = torch.zeros(len(start) + len(after), 2)
        which[: len(start), 0] = which[len(start) :, 1] = 1
        to_start, to_after = torch.linalg.lstsq(torch.cat([start, after]), which).solution.T
        digits = tokenizer.convert_tokens_to_ids(list("12345"))
        network.lm_head.weight[digits] += _BONUS * to_start
        network.lm_head.weight[tokenizer.eos_token_id] += 2 * _BONUS * to_after


def build(folder: Path, **changes: Any) -> Path:
    """Save the model, as `save_pretrained` does; `changes` are of its configuration."""
    tokenizer = build_tokenizer()
    build_network(tokenizer, **changes).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folder of the tiny model; skips where torch or transformers are not installed."""
    torch: Any = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # more only wait for one another at this size
    yield build(tmp_path_factory.mktemp("tiny") / "tiny-judge")
    torch.set_num_threads(threads)
