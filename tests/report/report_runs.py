"""Run folders made by hand, text by text, and a reader of pages that shows what they contain."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from unfooled.allowed import Allowed
from unfooled.estimates import Estimated
from unfooled.outcomes import Outcome, changed
from unfooled.proofs import Verdict
from unfooled.records import CANDIDATES, Run
from unfooled.text import Text

ATTACKS = ("pdp", "greedy")
VOID = {"meta", "link", "input", "br", "hr", "img", "path", "use", "rect"}


@dataclass(frozen=True)
class Case:
    """A text with what each method says about it, as the audit would record it."""

    source: Any
    swaps: tuple[int | None, ...] | str = (None, None)  # by attack; a word: the status of all
    proved: int | None = None  # the radius; None: no proof was tried
    pr: float | None = None
    sampled: bool = True
    error: str | None = None
    words: tuple[str, ...] = ("swapped", "other")

    @property
    def text(self) -> Text:
        return (
            Text.pair(*self.source) if isinstance(self.source, tuple) else Text.parse(self.source)
        )


def run(
    folder: Path,
    cases: Sequence[Case],
    *,
    victim: str = "toy",
    attacks: Sequence[str] = ATTACKS,
    radius: int = 3,
    costs: bool = True,
    **more: Any,
) -> Path:
    """A run folder as an audit leaves it."""
    manifest = {
        "method": "audit",
        "options": {
            "attacks": {name: {"keep": 8} for name in attacks},
            "certifiers": {"exhaustive": {"radius": radius}},
            "pr": {"radius": radius, "delta": 0.005, "epsilon": 0.025},
        },
        "seed": 7,
        "fingerprints": {"victim": "sha256:f00d", "data": "sha256:da7a"},
        "dtype": "float32",
        "command": ["unfooled", "audit", "a victim", "mr"],
        "victim": victim,
        "labels": ["negative", "positive"],
        **more,
    }
    with Run.open(folder, manifest) as opened:
        for i, case in enumerate(cases):
            for method, result in _results(f"t:{i}", case, attacks=attacks, radius=radius):
                opened.append({"key": f"{method}-{i}", "method": method, **result.record()})
    if costs:
        spent = {"texts": len(cases), "queries": 10, "forwards": 20, "seconds": 2.0}
        text = json.dumps(dict.fromkeys((*attacks, "exhaustive", "pr"), spent))
        (folder / "costs.json").write_text(text)
    return folder


def _results(id: str, case: Case, *, attacks: Sequence[str], radius: int) -> list[tuple[str, Any]]:
    text = case.text
    choices = dict.fromkeys(range(len(text.words)), case.words)
    results: list[tuple[str, Any]] = [(CANDIDATES, Allowed(id, text, 1, choices))]
    for i, name in enumerate(attacks):
        swaps = None if isinstance(case.swaps, str) else case.swaps[i]
        status: Any = case.swaps if isinstance(case.swaps, str) else "failed"
        changes: tuple[tuple[int, str, str], ...] = ()
        if swaps is not None:
            status = "success"
            changes = tuple((p, text.words[p], case.words[0]) for p in range(swaps))
        final = changed(text, changes) if changes else None
        outcome = Outcome(id, status, text, 1, final, changes, 5, 4, (0.0, 1.0), case.error)
        results.append((name, outcome))
    if case.proved is not None:
        candidates = {str(p): list(words) for p, words in choices.items()}
        certificate = {"candidates": candidates, "kind": "enumeration", "evaluated": 9}
        verdict = Verdict(
            id, "certified", text, 1, case.proved, queries=30, forwards=10, certificate=certificate
        )
        results.append(("exhaustive", verdict))
    if case.pr is not None:
        low, high = (case.pr - 0.02, min(1.0, case.pr + 0.02)) if case.sampled else (case.pr,) * 2
        rule: Any = "sequential" if case.sampled else "exact"
        exact = not case.sampled
        pr = Estimated(id, text, 1, case.pr, low, high, 100, exact, radius, rule, 100, 90)
        results.append(("pr", pr))
    return results


CASES = (
    Case("a truly fine film .", (1, 2), pr=0.5),
    Case("a dull and slow plot", (2, 3), proved=1, pr=0.95),
    Case("it moves me to tears", (3, None), proved=1, pr=0.8),
    Case("one two three four five six", (None, None), proved=3),
    Case("brief joy", (None, None), proved=2, pr=1.0, sampled=False),
    Case("never broken nor proved at all", (None, None), pr=0.9995),
    Case("wrong from the start", "skipped"),
    Case("the victim fell over", "error", error="VictimError: it fell"),
)
"""Exact, exact, undecided, proved to the radius, proved whole, intact, skipped, error."""

HOSTILE = (
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked=1'>",
    '"><svg onload="window.hacked=1">',
    "</style></script></title><b id=hacked>bold</b>",
    "' onmouseover='window.hacked=1' x='",
    "{{ 7 * 7 }}{% raw %} &lt;b&gt; $x_1$ ]]> <!-- <? #010101",
    "javascript:window.hacked=1 \u202e right to left \u0000 \x0c \U0001f600",
)


class Page(HTMLParser):
    """What a page contains: its elements with attributes, and the text of those asked for."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[tuple[str, str]] = []  # (innermost element, text)
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    @property
    def text(self) -> str:
        """All that can be read, scripts and styles left out."""
        return "".join(data for tag, data in self.texts if tag not in ("script", "style"))

    def values(self) -> dict[str, str]:
        """The numbers of the headline cards by their name in the summary."""
        found = [a for tag, a in self.elements if tag == "data"]
        return {str(a["data-key"]): str(a["value"]) for a in found}
