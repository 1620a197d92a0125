"""A Hugging Face tokenizer as the victim uses it: strings in, framed and truncated ids out."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
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
    """A fast tokenizer with a limit of tokens; `unknown` is what stands for an unknown word.

    `aside`: strings that are begun are cut in a thread of their own, where the tokenizer can be copied.
    """

    def __init__(self, tokenizer: Any, *, limit: int | None, aside: bool = False) -> None:
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
        self._copy = _copied(self._backend) if aside else None
        if self._copy is not None:
            self._truncate(self._copy)
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="unfooled-tokens")
        added = [token.content for token in self._backend.get_added_tokens_decoder().values()]
        self.units = Units(self._backend, specials={*added, *tokenizer.all_special_tokens})

    def frame(self, *, pair: bool) -> Frame:
        """What stands around a text or a pair."""
        return self._frames[pair]

    def encode(self, sources: Sequence[Source]) -> Encoded:
        """The ids of strings or pairs, by the tokenizer itself."""
        return self.packed(self.encodings(sources), sources)

    def begin(self, sources: Sequence[Source]) -> Callable[[], list[bytes]]:
        """Starts to encode strings or pairs; the handle waits for their ids."""
        if self._copy is None:
            found = self.encode(sources).ids
            return lambda: found
        waiting = self._thread.submit(self._copy.encode_batch_fast, list(sources))
        return lambda: [pack(row.ids) for row in waiting.result()]

    def packed(self, found: Sequence[Any], sources: Sequence[Source]) -> Encoded:
        """The ids of what `encodings` gave."""
        ids = [pack(row.ids) for row in found]
        if not self.typed or all(self._frames[not isinstance(s, str)].plain for s in sources):
            return Encoded(ids, [])
        return Encoded(ids, [bytes(row.type_ids) for row in found])

    def encodings(self, sources: Sequence[Source], *, offsets: bool = False) -> list[Any]:
        """The tokenizer's own records of strings or pairs; offsets cost time."""
        self._truncate(self._backend)
        encode = self._backend.encode_batch if offsets else self._backend.encode_batch_fast
        found: list[Any] = encode(list(sources))
        return found

    def _truncate(self, backend: Any) -> None:
        if self.limit is None:
            backend.no_truncation()
            return
        side = self.tokenizer.truncation_side
        backend.enable_truncation(self.limit, strategy="longest_first", direction=side)


def _copied(backend: Any) -> Any:
    """A tokenizer for another thread; None where parts of it are written in Python: those stay here."""
    try:
        return copy.deepcopy(backend)
    except Exception:  # the tokenizers library raises nothing narrower
        return None
