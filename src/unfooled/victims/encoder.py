"""A Hugging Face tokenizer as the victim uses it: strings in, framed and truncated ids out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from unfooled.errors import InputError
from unfooled.text import Source
from unfooled.victims.frames import Frame, frame, pack
from unfooled.victims.units import Units


class Encoded(NamedTuple):
    """Rows of token ids as bytes, and their token types where the model needs telling."""

    ids: list[bytes]
    types: list[bytes]  # one byte a token; empty: all are 0


class Encoder:
    """A fast tokenizer with a limit of tokens; `unknown` is what stands for an unknown word."""

    def __init__(self, tokenizer: Any, *, limit: int | None) -> None:
        if not getattr(tokenizer, "is_fast", False):
            raise InputError(
                f"{type(tokenizer).__name__} is no fast tokenizer: save the model with a "
                "tokenizer.json, as AutoTokenizer does"
            )
        self.tokenizer, self.limit = tokenizer, limit
        self._backend = tokenizer.backend_tokenizer
        self._backend.no_padding()
        left = tokenizer.truncation_side == "left"
        self._frames = {
            pair: frame(self._backend, pair=pair, limit=limit, keep_end=left)
            for pair in (False, True)
        }
        self.typed = "token_type_ids" in tokenizer.model_input_names
        self.pad_left = tokenizer.padding_side == "left"
        self.unknown = next(
            (
                token
                for token in (tokenizer.unk_token, tokenizer.mask_token, tokenizer.pad_token)
                if token
            ),
            "[UNK]",
        )
        added = [token.content for token in self._backend.get_added_tokens_decoder().values()]
        self.units = Units(self._backend, specials={*added, *tokenizer.all_special_tokens})

    def frame(self, *, pair: bool) -> Frame:
        """What stands around a text or a pair."""
        return self._frames[pair]

    def encode(self, sources: Sequence[Source]) -> Encoded:
        """The ids of strings or pairs, by the tokenizer itself."""
        return self.packed(self.encodings(sources), sources)

    def packed(self, found: Sequence[Any], sources: Sequence[Source]) -> Encoded:
        """The ids of what `encodings` gave."""
        ids = [pack(row.ids) for row in found]
        if not self.typed or all(self._frames[not isinstance(s, str)].plain for s in sources):
            return Encoded(ids, [])
        return Encoded(ids, [bytes(row.type_ids) for row in found])

    def encodings(self, sources: Sequence[Source], *, offsets: bool = False) -> list[Any]:
        """The tokenizer's own records of strings or pairs; offsets cost time."""
        if self.limit is not None:
            self._backend.enable_truncation(
                self.limit, strategy="longest_first", direction=self.tokenizer.truncation_side
            )
        else:
            self._backend.no_truncation()
        encode = self._backend.encode_batch if offsets else self._backend.encode_batch_fast
        found: list[Any] = encode(list(sources))
        return found
