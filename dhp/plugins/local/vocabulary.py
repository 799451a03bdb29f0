"""Tokens of a local model and the texts they stand for."""

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dhp.core.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class Vocabulary:
    """The tokens of prompts, and the text of tokens, by the tokenizer of a model."""

    def __init__(
        self, model: str, tokenizer: "PreTrainedTokenizerBase", chat_template: str | None = None
    ) -> None:
        """`chat_template` replaces that of the tokenizer; a warning if there is none at all."""
        self._model = model
        self._tokenizer = tokenizer
        if chat_template is not None:
            tokenizer.chat_template = chat_template
        elif tokenizer.chat_template is None:
            warnings.warn(
                f"model '{model}': has no chat template, so prompts go to it as plain text; `chat_template` "
                "takes a file with one",
                stacklevel=2,
            )
        self.end: int | None = tokenizer.eos_token_id
        """The token that ends an answer."""

    def encode(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """The messages as the model gets them; without a chat template as one text, blank lines between.

        Control tokens written out in them stay plain text.
        """
        from jinja2 import TemplateError

        ids: Any
        if self._tokenizer.chat_template is None:
            text = "\n\n".join([message["content"] for message in messages])
            ids = self._tokenizer(text, split_special_tokens=True, verbose=False)["input_ids"]
        else:
            try:
                ids = self._tokenizer.apply_chat_template(
                    [dict(message) for message in messages],
                    add_generation_prompt=True,
                    sanitize_control_tokens=True,
                    return_dict=False,
                    tokenizer_kwargs={"verbose": False},
                )
            except (TemplateError, NotImplementedError) as e:
                reason = " ".join(str(e).split())
                raise InputError(
                    f"model '{self._model}': its chat template cannot be used: {reason}"
                ) from None
        return list(ids)

    def text(self, tokens: Sequence[int]) -> str:
        """Text of an answer, without special tokens."""
        text: Any = self._tokenizer.decode(list(tokens), skip_special_tokens=True)
        return str(text)

    def token(self, token: int) -> str:
        """Text of one token, special or not."""
        return str(self._tokenizer.decode([token]))
