"""Words that a masked language model would put at a position, for many texts at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, product

import numpy as np

from unfooled.companions import Proposal, Request
from unfooled.errors import InputError, MissingExtra
from unfooled.lexicon.masked_rows import Ids, Line, Place, Row, Rows
from unfooled.lexicon.word_pieces import WordPieces
from unfooled.program import leaders
from unfooled.text import Text

try:
    import torch
    from torch import Tensor
except ImportError as error:
    raise MissingExtra("a masked language model", "hf") from error

from unfooled.lexicon.masked_networks import DEFAULT, Opened, fingerprint, open_network

# BERT-Attack, its authors' numbers for words of several pieces.
_PER_PIECE, _PIECES, _TOGETHER = 4, 12, 24

_TOKENS = 4096  # of a batch, with its padding
_PLACES = 1024  # of a batch: each has a score for every entry of the vocabulary

At = tuple[Row, int]


class MaskedLM:
    """A masked language model that proposes whole words of letters, best first.

    Masked: the model reads the text with one mask in the place of the word, however many pieces it
    has (BAE). Not masked: it reads the text as it is (BERT-Attack, Li et al. 2020), and a word of
    several pieces gets the words that the first 4 predictions for each of its first 12 pieces make
    together, the first 24 of them, least perplexity first.

    The score is the log-probability among all entries of the vocabulary; for several pieces it is
    the mean over the pieces read alone, minus the logarithm of their perplexity.

    Differs from the authors: k counts whole words, not predictions of which some are dropped; what
    several pieces make is dropped unless it is one word; of a text that is too long for the model,
    the part around the word is read.
    """

    def __init__(self, opened: Opened, *, name: str, fingerprint: str | None = None) -> None:
        self.name, self.fingerprint = name, fingerprint
        self.batch_rows = 256
        self._network, self._device = opened.network, opened.device
        self._rows = Rows(opened.tokenizer, limit=opened.limit)
        self._pieces = WordPieces(opened.tokenizer)
        self._pad = opened.tokenizer.pad_token_id or 0
        self._typed = "token_type_ids" in opened.tokenizer.model_input_names

    def propose(self, requests: Sequence[Request]) -> list[list[Proposal]]:
        """At most k proposals for each request, best first, in the order of the requests."""
        lines: dict[Text, Line] = {}
        places = [self._place(request, lines) for request in requests]
        single = [(p.row, p.columns[0]) for p in places if p and len(p.columns) == 1]
        most = max((request.k for request in requests), default=0)
        # One more for each spelling of the word itself, and entries that differ in case alone.
        few = self._pieces.most_forms * (most + 2)
        words = self._best(single, tuple(self._pieces.words), k=few)
        joined = self._joined(p for p in places if p and len(p.columns) > 1)
        found: list[list[Proposal]] = []
        for request, place in zip(requests, places, strict=True):
            if place is None:
                found.append([])
            elif place in joined:
                found.append(self._answer(request, joined[place]))
            else:
                best = words[place.row, place.columns[0]]
                named = ((self._pieces.words[number], score) for number, score in best)
                found.append(self._answer(request, named))
        return found

    def _place(self, request: Request, lines: dict[Text, Line]) -> Place | None:
        text, position = request.text, request.position
        if not 0 <= position < len(text.words):
            raise InputError(f"position {position} is outside a text of {len(text.words)} words")
        if request.k < 1:
            raise InputError(f"at least one proposal can be asked for, not {request.k}")
        if text not in lines:
            lines[text] = self._rows.read(text)
        seen = self._rows.masked if request.masked else self._rows.plain
        return seen(lines[text], position)

    def _answer(self, request: Request, found: Iterable[tuple[str, float]]) -> list[Proposal]:
        """The first k, without the word itself and without the same word in another case."""
        taken = set(self._pieces.spellings(request.text.words[request.position]))
        answer: list[Proposal] = []
        for word, score in found:
            if word.lower() not in taken and len(answer) < request.k:
                taken.add(word.lower())
                answer.append(Proposal(word, score))
        return answer

    # --- words of several pieces --------------------------------------------------------------

    def _joined(self, places: Iterable[Place]) -> dict[Place, list[tuple[str, float]]]:
        """What the likely pieces of each place make together, least perplexity first."""
        columns = {place: place.columns[:_PIECES] for place in places}
        wanted = [(place.row, column) for place, several in columns.items() for column in several]
        pieces = self._best(wanted, self._pieces.pieces, k=_PER_PIECE)
        made: dict[Place, list[Ids]] = {}
        for place, several in columns.items():
            options = [[number for number, _ in pieces[place.row, c]] for c in several]
            made[place] = list(islice(product(*options), _TOGETHER))
        scores = self._alone({ids for found in made.values() for ids in found})
        joined = {}
        for place, found in made.items():
            order = leaders(np.array([scores[ids] for ids in found]), len(found))
            named = [(self._pieces.word(found[i]), scores[found[i]]) for i in order]
            joined[place] = [(word, score) for word, score in named if word]
        return joined

    def _alone(self, sequences: Iterable[Ids]) -> dict[Ids, float]:
        """The mean log-probability of pieces that stand alone, nothing masked, nothing around."""
        rows = [Row(ids, (0,) * len(ids)) for ids in sorted(sequences)]
        found: dict[Ids, list[float]] = {row.ids: [] for row in rows}
        for places, logits in self._run((row, c) for row in rows for c in range(len(row.ids))):
            own = torch.tensor([row.ids[column] for row, column in places], device=logits.device)
            values = logits.log_softmax(1).gather(1, own[:, None])[:, 0].tolist()
            for (row, _), value in zip(places, values, strict=True):
                found[row.ids].append(value)
        return {ids: float(np.mean(values)) for ids, values in found.items()}

    # --- batches ------------------------------------------------------------------------------

    def _best(
        self, places: Iterable[At], among: Ids, *, k: int
    ) -> dict[At, list[tuple[int, float]]]:
        """The k likeliest of some entries at each place, with log-probabilities, best first.

        Entries within float noise of each other go by the vocabulary's order, so that the answer
        does not depend on what shared the batch.
        """
        chosen = torch.tensor(among, dtype=torch.int64, device=self._device)
        best = {}
        for batch, logits in self._run(places):
            top = logits[:, chosen].topk(min(k, len(among)))
            numbers, order = chosen[top.indices].sort(1)
            scores = (top.values - logits.logsumexp(1, keepdim=True)).gather(1, order)
            for place, ids, values in zip(
                batch, numbers.tolist(), scores.double().cpu().numpy(), strict=True
            ):
                best[place] = [(ids[i], float(values[i])) for i in leaders(values, len(ids))]
        return best

    def _run(self, places: Iterable[At]) -> Iterator[tuple[list[At], Tensor]]:
        """Some of the places with their logits (places, vocabulary), until all have been given.

        Each row runs once, beside rows of similar length.
        """
        columns: dict[Row, dict[int, None]] = {}
        for row, column in places:
            columns.setdefault(row, {})[column] = None
        batch: list[Row] = []
        asked = 0
        for row in sorted(columns, key=lambda row: (len(row.ids), row)):
            full = len(row.ids) * (len(batch) + 1) > _TOKENS
            if batch and (full or asked + len(columns[row]) > _PLACES):
                yield self._logits(batch, columns)
                batch, asked = [], 0
            batch.append(row)
            asked += len(columns[row])
        if batch:
            yield self._logits(batch, columns)

    def _logits(
        self, rows: Sequence[Row], columns: dict[Row, dict[int, None]]
    ) -> tuple[list[At], Tensor]:
        width = max(len(row.ids) for row in rows)
        ids = torch.full((len(rows), width), self._pad)
        types, real = torch.zeros_like(ids), torch.zeros_like(ids)
        for number, row in enumerate(rows):
            ids[number, : len(row.ids)] = torch.tensor(row.ids)
            types[number, : len(row.ids)] = torch.tensor(row.types)
            real[number, : len(row.ids)] = 1
        inputs = {"input_ids": ids, "attention_mask": real}
        if self._typed:
            inputs["token_type_ids"] = types
        at = [(number, column) for number, row in enumerate(rows) for column in columns[row]]
        where = torch.tensor(at, device=self._device).T
        with torch.inference_mode():
            inputs = {name: value.to(self._device) for name, value in inputs.items()}
            logits = self._network.logits(inputs, (where[0], where[1])).float()
        return [(rows[number], column) for number, column in at], logits


@lru_cache(maxsize=2)
def load(name: str = DEFAULT, *, device: str | None = None) -> MaskedLM:
    """The masked language model of that name, loaded once: `minilm`, a folder, or a hub name."""
    return MaskedLM(open_network(name, device=device), name=name, fingerprint=fingerprint(name))
