"""Word models of `unfooled.models` as victims: one id per word, rows by gathers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unfooled import models
from unfooled.bounds.reading import Reading
from unfooled.counting import Rows
from unfooled.devices import usable
from unfooled.errors import OutOfMemory, Unsupported
from unfooled.fingerprints import path_fingerprint
from unfooled.models.encoding import encode, pad
from unfooled.models.networks import Network
from unfooled.models.store import WordModel
from unfooled.models.vocabulary import Vocabulary
from unfooled.program import Sweep, Swept
from unfooled.space import DELETED, Space
from unfooled.text import Source, Text
from unfooled.victims.base import Differentiable, Floats, Layered, Part, Sensitive, Sweeping
from unfooled.victims.blocks import blocks
from unfooled.victims.first_order import first_order
from unfooled.victims.pieces import Body, Ids, PieceTable
from unfooled.victims.transfer import begun, sent
from unfooled.victims.word_points import points
from unfooled.victims.word_sweeps import sweep_words
from unfooled.victims.word_table import Joints, WordTable

_UNKNOWN_WORD = "ʬʬʬ"  # parses as one word and is in no vocabulary

_REMEMBERED = 200_000  # candidates whose ids are kept


class WordVictim(Differentiable, Layered, Sensitive, Sweeping):
    """A network over word vectors with its vocabulary."""

    dtype = "float32"

    def __init__(
        self, model: WordModel, *, name: str, fingerprint: str, device: str = "cpu"
    ) -> None:
        self.model, self.name, self.labels = model, name, model.labels
        self.architecture, self.pair = model.config.arch, model.config.pair
        self.device = usable(device)
        self.network = model.network.to(self.device).eval()
        self.depth = 0 if self.device.type == "cpu" else 4
        self.batch_rows = 128 if self.device.type == "cpu" else 4096
        self.batch_tokens = None if self.device.type == "cpu" else 1 << 19
        self._limit = model.config.max_words
        self._joints = Joints()
        self._known: dict[str, tuple[int, ...]] = {}  # candidate -> ids, for all spaces
        self._fingerprint = fingerprint

    @classmethod
    def load(cls, folder: Path | str, *, device: str = "cpu") -> WordVictim:
        """The word model saved in a folder."""
        model = models.load(folder)
        return cls(
            model, name=Path(folder).name, fingerprint=path_fingerprint(folder), device=device
        )

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    def scores(self, sources: Sequence[Source]) -> Floats:
        blocks = []
        for start in range(0, len(sources), self.batch_rows):
            part = sources[start : start + self.batch_rows]
            batch = pad([self._encode(source) for source in part]).to(self.device)
            with torch.inference_mode():
                blocks.append(self.network(*batch).cpu().numpy())
        return np.concatenate(blocks) if blocks else np.empty((0, len(self.labels)), np.float32)

    def alone(self, sources: Sequence[Source]) -> Floats:
        """One by one, or on another device, where a call costs more than a text, in `blocks`."""
        return super().alone(sources) if self.device.type == "cpu" else self.in_blocks(sources)

    def in_blocks(self, sources: Sequence[Source]) -> Floats:
        """The scores of texts in blocks of one shape."""
        out = np.empty((len(sources), len(self.labels)), dtype=np.float32)
        rows = [self._encode(source) for source in sources]
        for texts, filled, width in blocks([max(map(len, r)) for r in rows], limit=self._limit):
            batch = pad([rows[i] for i in filled], width=width).to(self.device)
            with torch.inference_mode():
                out[texts] = self.network(*batch).cpu().numpy()[: len(texts)]
        return out

    def _encode(self, text: Text | Source) -> tuple[list[int], ...]:
        return encode(
            text, self.model.vocabulary, max_words=self._limit, pair=self.model.config.pair
        )

    def prepare(self, space: Space) -> WordTable:
        if space.original.is_pair != self.model.config.pair:
            self._encode(space.original)  # says what is read and what was given
        if space.original.editable == "both":
            return WordTable(space, None, limit=self._limit)
        known = self._known
        table = PieceTable(
            space,
            fixed=[(i,) for i in self.model.vocabulary.ids(space.original.words)],
            choices=[
                [known.get(c) or self._pieces(c) for c in found] for found in space.candidates
            ],
            unknown=(Vocabulary.unknown,),
        )
        whole = self._joints.hold(space)
        return WordTable(space, table if whole else None, limit=self._limit)

    def _pieces(self, candidate: str) -> tuple[int, ...]:
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        ids = tuple(self.model.vocabulary.ids(Text.parse(candidate).words))
        self._known[candidate] = ids
        return ids

    def _body(self, prepared: WordTable, rows: Rows) -> Body:
        """Ids of rows, cut to the model's length; an empty text is one unknown word."""
        if prepared.table is None:
            return self._spelled(prepared.space, rows)
        ids, lengths = prepared.table.body(rows)
        if ids.shape[1] == 0:
            ids = np.full((len(rows), 1), Vocabulary.padding)
        ids[lengths == 0, 0] = Vocabulary.unknown
        return Body(ids[:, : self._limit], np.clip(lengths, 1, self._limit))

    def _spelled(self, space: Space, rows: Rows) -> Body:
        """The same by way of strings, as the public entry does it."""
        side = 1 if space.original.editable == "second" else 0
        found = [self._encode(s)[side] for s in space.sources(rows, unknown=_UNKNOWN_WORD)]
        lengths = np.array([len(f) for f in found])
        ids = np.full((len(rows), max(lengths, default=0)), Vocabulary.padding, dtype=np.int64)
        for row, numbers in zip(ids, found, strict=True):
            row[: len(numbers)] = numbers
        return Body(ids, lengths)

    def submit(self, parts: Sequence[Part]) -> Callable[[], Floats]:
        if any(p.prepared.space.original.editable == "both" for p in parts):
            sources = [
                s for p in parts for s in p.prepared.space.sources(p.rows, unknown=_UNKNOWN_WORD)
            ]
            return lambda: self.scores(sources)
        ids, lengths = self._assemble(parts)
        try:
            with torch.inference_mode():
                return begun(self._logits(self._tensor(ids), self._mask(ids, lengths), parts))
        except torch.OutOfMemoryError as error:
            raise OutOfMemory(str(error)) from error

    def _logits(self, ids: Tensor, mask: Tensor, parts: Sequence[Part]) -> Tensor:
        if self.model.config.pair:
            return self._head(self.network.encode(self.network.embedding(ids), mask), parts)
        logits: Tensor = self.network(ids, mask)
        return logits

    def _head(self, body: Tensor, parts: Sequence[Part]) -> Tensor:
        """Logits from the encoded editable side; a fixed side is encoded once per text."""
        if not self.model.config.pair:
            return self.network.classify(body)
        counts = [len(p.rows) for p in parts]
        others = torch.cat(
            [self._other(p.prepared).expand(n, -1) for p, n in zip(parts, counts, strict=True)]
        )
        second = np.repeat([p.prepared.space.original.editable == "second" for p in parts], counts)
        is_second = torch.from_numpy(second).to(self.device)[:, None]
        return self.network.classify(
            torch.where(is_second, others, body), torch.where(is_second, body, others)
        )

    def _assemble(self, parts: Sequence[Part]) -> Body:
        total = sum(len(p.rows) for p in parts)
        plain = all(p.prepared.length is not None and not (p.rows == DELETED).any() for p in parts)
        if plain:
            ids = np.zeros((total, max(p.prepared.length for p in parts)), dtype=np.int64)
            start = 0
            for prepared, rows in parts:
                stop = start + len(rows)
                if len(prepared.table.base):
                    prepared.table.fill(rows, ids[start:stop, : prepared.length])
                else:
                    ids[start:stop, 0] = Vocabulary.unknown
                start = stop
            return Body(
                ids, np.repeat([p.prepared.length for p in parts], [len(p.rows) for p in parts])
            )
        bodies = [self._body(p.prepared, p.rows) for p in parts]
        ids = np.zeros((total, max(b.ids.shape[1] for b in bodies)), dtype=np.int64)
        start = 0
        for body in bodies:
            ids[start : start + len(body.ids), : body.ids.shape[1]] = body.ids
            start += len(body.ids)
        return Body(ids, np.concatenate([b.lengths for b in bodies]))

    def _other(self, prepared: WordTable) -> Tensor:
        if prepared.other is None:
            prepared.other = self._fixed(prepared, self.network)
        return prepared.other

    def _fixed(self, prepared: WordTable, network: Network) -> Tensor:
        """(1, features): the side of a pair that stays, encoded."""
        text = prepared.space.original
        fixed = self._encode(text)[0 if text.editable == "second" else 1]
        ids = torch.tensor([fixed], device=network.embedding.weight.device)
        with torch.no_grad():
            return network.encode(network.embedding(ids), torch.ones_like(ids, dtype=torch.bool))

    def gradients(self, parts: Sequence[Part], of: Sequence[int]) -> list[Floats]:
        for part in parts:
            if part.prepared.table is None:
                raise Unsupported(
                    f"{self.name} has no gradients for {str(part.prepared.space.original)!r:.60}: its "
                    "words join up with their candidates, or both sides of a pair are editable"
                )
        weights = self.network.embedding.weight.detach().cpu().numpy()
        blocks = np.split(self._slopes(parts, of), np.cumsum([len(p.rows) for p in parts])[:-1])
        return [
            first_order(part.prepared.table, part.rows, block, vectors=weights)
            for part, block in zip(parts, blocks, strict=True)
        ]

    def _slopes(self, parts: Sequence[Part], of: Sequence[int]) -> Floats:
        """(rows, words, d): the gradients of the scores `of` at the word vectors."""
        ids, lengths = self._assemble(parts)
        vectors = self.network.embedding(self._tensor(ids)).detach().requires_grad_()
        logits = self._head(self.network.encode(vectors, self._mask(ids, lengths)), parts)
        wanted = torch.from_numpy(np.repeat(np.array(of), [len(p.rows) for p in parts])).to(
            self.device
        )
        (slopes,) = torch.autograd.grad(logits.gather(1, wanted[:, None]).sum(), vectors)
        found: Floats = slopes.cpu().numpy()
        return found

    def sensitivity(self, prepared: WordTable, of: int) -> Floats | None:
        if prepared.table is None:
            return None
        rows = prepared.space.rows(prepared.space.origin)
        sizes = np.abs(self._slopes([Part(prepared, rows)], [of])[0]).sum(axis=1)
        sizes = np.append(sizes, np.zeros(max(0, len(prepared.table.base) - len(sizes))))
        return sizes[prepared.table.offsets]  # words that are cut off have no say

    def sweep(
        self, prepared: WordTable, sweep: Sweep, *, limit: int | None
    ) -> Iterator[Swept] | None:
        def head(features: Tensor) -> Tensor:
            rows = np.empty((len(features), 0), dtype=np.int16)
            return self._head(features, [Part(prepared, rows)])

        return sweep_words(self.network, prepared, sweep, head=head, limit=limit)

    def layers(self, prepared: WordTable) -> Reading | None:
        if prepared.table is None or not prepared.table.simple:
            return None
        order = tuple(range(len(prepared.space.counts)))
        found = points(self._double, prepared.table, order=order, limit=self._limit)
        second = prepared.space.original.editable == "second"
        if not self.model.config.pair:
            return Reading(self._double, *found)
        other = self._fixed(prepared, self._double)
        return Reading(self._double, *found, other=other, second=second)

    @cached_property
    def _double(self) -> Network:
        """The network in float64 and on the CPU."""
        return copy.deepcopy(self.network).cpu().double()

    def _tensor(self, ids: Ids) -> Tensor:
        return sent(ids, self.device)

    def _mask(self, ids: Ids, lengths: Ids) -> Tensor:
        real: NDArray[np.bool_] = np.arange(ids.shape[1]) < lengths[:, None]
        return sent(real, self.device)
