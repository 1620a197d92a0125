"""Runs the code of README.md, CONTRIBUTING.md and docs/: what a page shows is what happens.

Blocks of a page run in order, in one namespace and one temporary folder:

- `python` runs; one that begins with `>>>` is a doctest;
- `text` right behind a python block is what that block prints;
- `console`: every `$ unfooled ...` runs as the real command, the lines below it are its output.

An ellipsis in shown output stands for anything. A comment on the line before a block says more:
`<!-- file: NAME -->` writes the block to a file, `<!-- assets: NAME ... -->` needs real assets,
`<!-- tests add: OPTIONS -->` makes the commands of a block cheaper, `<!-- figures: vary -->` compares
shown output but for its numbers. What a page takes for granted
as the reader's own is in `PRELUDES`.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import unfooled

ROOT = Path(__file__).parents[1]
PAGES = {
    path.relative_to(ROOT).as_posix(): path
    for path in [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").rglob("*.md")),
    ]
    if "_build" not in path.parts
}
BLOCK = re.compile(r"((?:^<!--[^\n]*-->\n)*)^```([\w-]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOTE = re.compile(r"<!-- ([\w ]+): (.*?) -->")
FIGURE = re.compile(r"\d[\d.,]*\b|–")  # a mean over nothing is printed as a dash
LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
COMMAND = Path(sys.executable).with_name("unfooled")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page and what the comments before it ask for."""

    language: str
    code: str
    line: int
    notes: dict[str, str]
    follows: bool  # whether only blank lines part it from the block before

    @property
    def assets(self) -> list[str]:
        return self.notes.get("assets", "").split()


def blocks(page: str) -> list[Block]:
    text, end = PAGES[page].read_text(encoding="utf-8"), 0
    found: list[Block] = []
    for match in BLOCK.finditer(text):
        line = text[: match.start(3)].count("\n") + 1
        follows = bool(found) and not text[end : match.start()].strip()
        found.append(Block(match[2], match[3], line, dict(NOTE.findall(match[1])), follows))
        end = match.end()
    return found


def needed(page: str) -> list[str]:
    return sorted({name for block in blocks(page) for name in block.assets})


class Reader:
    """Does what a page says, block by block, in the current folder."""

    def __init__(self, page: str, environment: dict[str, str]) -> None:
        self.page, self.environment = page, environment
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.printed: str | None = None  # by the block before, if that was plain python

    def read(self, block: Block) -> None:
        before, self.printed = self.printed, None
        if "file" in block.notes:
            path = Path(block.notes["file"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code, encoding="utf-8")
        elif block.language == "python" and block.code.startswith(">>>"):
            self._doctest(block)
        elif block.language == "python":
            self._python(block)
        elif block.language == "console":
            self._console(block)
        elif block.language == "text" and block.follows and before is not None:
            self._compare(block.code, before, f"line {block.line}")

    def _python(self, block: Block) -> None:
        padded = "\n" * (block.line - 1) + block.code  # so that a traceback names the page's line
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(padded, self.page, "exec"), self.names)
        self.printed = out.getvalue()

    def _doctest(self, block: Block) -> None:
        parser = doctest.DocTestParser()
        test = parser.get_doctest(block.code, self.names, self.page, self.page, block.line - 1)
        report = io.StringIO()
        doctest.DocTestRunner(optionflags=LENIENT).run(test, out=report.write, clear_globs=False)
        assert not report.getvalue(), report.getvalue()
        self.names = test.globs

    def _console(self, block: Block) -> None:
        for part in re.split(r"^\$ ", block.code.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            if command.startswith("unfooled"):
                extra = block.notes.get("tests add", "")
                printed = self._command(f"{command} {extra}", fails=shown.startswith("unfooled:"))
                if "figures" in block.notes:
                    shown, printed = (FIGURE.sub("#", text) for text in (shown, printed))
                if shown.strip():
                    self._compare(shown, printed, f"`{command}`")

    def _command(self, command: str, *, fails: bool) -> str:
        words = [str(COMMAND), *shlex.split(command, comments=True)[1:]]
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True)
        assert done.returncode == (2 if fails else 0), f"{command}\n{done.stdout}{done.stderr}"
        return done.stderr if fails else done.stdout

    def _compare(self, shown: str, printed: str, where: str) -> None:
        same = doctest.OutputChecker().check_output(shown, printed, LENIENT)
        assert same, f"{self.page}, {where}, shows\n{shown}\nbut what was printed is\n{printed}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of the reader's own, where they stand; modules found there are forgotten later."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "COLUMNS": "80", "OMP_NUM_THREADS": "1", **more}


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)])
def test_code_of_a_page_runs_and_prints_what_is_shown(
    page: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = str(folder / "no-assets")  # a block that needs an asset and does not say so fails here
    monkeypatch.setenv("UNFOOLED_HOME", home)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    run = [block for block in blocks(page) if not block.assets]
    reader = Reader(page, environment())
    PRELUDES.get(page, nothing)(reader.names)
    for block in run:
        reader.read(block)
    assert run or needed(page)


@pytest.mark.assets
@pytest.mark.parametrize("page", [page for page in PAGES if needed(page)])
def test_code_of_a_page_runs_on_real_assets(
    page: str, folder: Path, asset: Callable[[str], Path]
) -> None:
    homes = {asset(name).parent for name in needed(page)}
    reader = Reader(page, environment(UNFOOLED_HOME=str(homes.pop())))
    assert not homes
    PRELUDES.get(page, nothing)(reader.names)
    for block in blocks(page):
        reader.read(block)


def modules_with_examples() -> list[str]:
    source = Path(unfooled.__file__).parent
    files = [p for p in sorted(source.rglob("*.py")) if ">>> " in p.read_text(encoding="utf-8")]
    parts = [("unfooled", *file.relative_to(source).with_suffix("").parts) for file in files]
    return [".".join(part for part in path if part != "__init__") for path in parts]


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings_are_true(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=LENIENT)
    assert tried
    assert not failed


def test_links_between_pages_lead_somewhere() -> None:
    for page, path in PAGES.items():
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (path.parent / target).exists(), f"{page} links to {target}"


def test_readme_names_what_is_in_the_box_and_nothing_else() -> None:
    from unfooled import assets, candidates, registry
    from unfooled.models.config import ARCHITECTURES

    text = PAGES["README.md"].read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([\w ]+?) *\| (.*?) *\|", text, re.MULTILINE))
    said = {kind: set(re.findall(r"`([\w-]+)`", row)) for kind, row in rows.items()}
    assert said["attacks"] == set(registry.names("attacks"))
    assert said["candidates"] == {*candidates.names(), *candidates.filters()}
    assert said["data sets"] == {n for n in assets.names() if assets.info(n).kind == "data set"}
    assert said["reference models"] == {*ARCHITECTURES, "hf"}


# --- what a page takes for granted as the reader's own ------------------------------------------


def nothing(names: dict[str, Any]) -> None:
    """Most pages bring all they need."""


def own_model_and_csv(names: dict[str, Any]) -> None:
    """A `reviews.csv` and a function `classify` that counts friendly and unfriendly words."""
    lines = ["A warm and funny film.,positive", "The plot is dull.,negative"]
    lines += ["A good story.,positive", "Bad from start to end.,negative"]
    Path("reviews.csv").write_text("text,label\n" + "\n".join(lines) + "\n", encoding="utf-8")
    friendly, unfriendly = {"warm", "funny", "good"}, {"dull", "bad"}

    def classify(texts: list[str]) -> list[list[float]]:
        words = [text.lower().rstrip(".").split() for text in texts]
        return [
            [sum(w in unfriendly for w in t) + 0.5, sum(w in friendly for w in t)] for t in words
        ]

    names["classify"] = classify


def own_bert(names: dict[str, Any]) -> None:
    """A folder `my-bert` with a tiny classifier and its tokenizer, as `save_pretrained` writes it."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    words = "[PAD] [UNK] [CLS] [SEP] a warm and funny film . the plot is dull good fine story"
    numbers = {word: number for number, word in enumerate(words.split())}
    made = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = [("[CLS]", 2), ("[SEP]", 3)]
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=special
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", model_max_length=64
    )
    labels = dict(enumerate(["negative", "positive"]))
    config = BertConfig(
        vocab_size=len(numbers), hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=8, max_position_embeddings=64, id2label=labels,
        label2id={name: number for number, name in labels.items()},
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        BertForSequenceClassification(config).save_pretrained("my-bert")
    tokenizer.save_pretrained("my-bert")


PRELUDES: dict[str, Callable[[dict[str, Any]], None]] = {
    "README.md": own_model_and_csv,
    "docs/how-to/audit-your-model.md": own_bert,
}
