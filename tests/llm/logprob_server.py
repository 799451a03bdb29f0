"""A server with log-probabilities for a folder of a model, by transformers' own `generate`."""

import contextlib
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.server import Answer, Call, Scripted, scripted_server


def completion(network: Any, tokenizer: Any, body: Mapping[str, Any]) -> dict[str, Any]:
    """A greedy chat completion in OpenAI's form, with the likeliest tokens at each position."""
    import torch

    ids = tokenizer.apply_chat_template(
        body["messages"], add_generation_prompt=True, return_tensors="pt", return_dict=False
    )
    out = network.generate(
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        do_sample=False,
        max_new_tokens=body["max_tokens"],
        return_dict_in_generate=True,
        output_logits=True,
    )
    tokens = out.sequences[0, ids.shape[1] :].tolist()
    ended = tokens[-1] == tokenizer.eos_token_id
    if ended:
        tokens.pop()
    content = []
    for token, logits in zip(tokens, out.logits, strict=False):
        logprobs, alternatives = logits[0].float().log_softmax(-1).topk(body.get("top_logprobs", 1))
        pairs = zip(alternatives.tolist(), logprobs.tolist(), strict=True)
        top = [{"token": tokenizer.decode([t]), "logprob": round(p, 6)} for t, p in pairs]
        content.append(
            {"token": tokenizer.decode([token]), "logprob": top[0]["logprob"], "top_logprobs": top}
        )
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": tokenizer.decode(tokens)},
        "finish_reason": "stop" if ended else "length",
        "logprobs": {"content": content} if body.get("logprobs") else None,
    }
    usage = {"prompt_tokens": ids.shape[1], "completion_tokens": len(out.logits)}
    return {"choices": [choice], "usage": usage}


@contextlib.contextmanager
def logprob_server(folder: Path) -> Iterator[Scripted]:
    """Serve the model in `folder`."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    network = AutoModelForCausalLM.from_pretrained(folder, dtype="float32").eval()
    network.generation_config.do_sample = False
    tokenizer = AutoTokenizer.from_pretrained(folder)
    one = threading.Lock()

    def says(call: Call) -> Answer:
        with one:
            return 200, {}, completion(network, tokenizer, call.body)

    with scripted_server(says) as server:
        yield server
