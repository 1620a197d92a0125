"""The page in a real browser: it renders, filters and sorts, fetches nothing, and runs no text."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attack_runs import OUTCOMES, attack_run, outcome
from report_runs import CASES, HOSTILE, Case, run

from unfooled.report import write

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        yield launched
        launched.close()


class Opened:
    """A page in the browser, with everything it complained about or asked for."""

    def __init__(self, browser: Any, path: Path, **context: Any) -> None:
        self.context = browser.new_context(**context)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append("dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.url = path.resolve().as_uri()
        self.page.goto(self.url)

    def shown(self) -> list[str]:
        """What the badges of the visible texts say, in order."""
        rows = self.page.locator("details.text:visible > summary .badge")
        return [text.strip() for text in rows.all_inner_texts()]

    def choose(self, kind: str) -> list[str]:
        self.page.locator(f"button[data-kind='{kind}']").click()
        return self.shown()

    def quiet(self) -> bool:
        """Whether it asked for nothing but itself and complained about nothing."""
        return self.complaints == [] and self.requests == [self.url]


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return write([run(tmp_path / "run", CASES)])


ALL = [
    "m = 1 exactly", "m = 2 exactly", "2 ≤ m ≤ 3", "m ≥ 4, not broken", "no swap fools it",
    "m ≥ 1, not broken", "misclassified", "error",
]  # fmt: skip


def test_it_renders_without_a_complaint_or_a_request(browser: Any, report: Path) -> None:
    opened = Opened(browser, report)
    assert opened.shown() == ALL
    sizes = [box.bounding_box() for box in opened.page.locator("figure svg").all()]
    assert len(sizes) == 5
    assert all(size["width"] > 200 and size["height"] > 100 for size in sizes)
    assert opened.quiet(), (opened.complaints, opened.requests)


@pytest.mark.parametrize(
    ("kind", "kept"),
    [
        ("exact", [0, 1, 4]),
        ("whole", [4]),
        ("broken", [0, 1, 2]),
        ("intact", [3, 5]),
        ("undecided", [2, 3, 5]),
        ("skipped", [6]),
        ("error", [7]),
        ("", range(8)),
    ],
)
def test_filters_keep_what_they_say(browser: Any, report: Path, kind: str, kept: list[int]) -> None:
    opened = Opened(browser, report)
    button = opened.page.locator(f"button[data-kind='{kind}']")
    assert opened.choose(kind) == [ALL[i] for i in kept]
    assert button.inner_text().split()[-1] == str(len(kept))
    assert button.get_attribute("aria-pressed") == "true"
    assert opened.page.locator("output").inner_text() == f"{len(kept)} of 8 shown"
    assert opened.quiet()


def test_search_and_filter_work_together(browser: Any, report: Path) -> None:
    opened = Opened(browser, report)
    search = opened.page.get_by_label("Search")
    search.fill("FILM")
    assert opened.shown() == [ALL[0]]
    search.fill("a dull and slow plot")
    assert opened.shown() == [ALL[1]]
    search.fill("swapped swapped and slow")
    assert opened.shown() == [ALL[1]]
    search.fill("not broken")
    assert opened.choose("intact") == [ALL[3], ALL[5]]
    search.press("Enter")  # must not send the form away
    search.fill("<no such text>")
    assert opened.shown() == []
    assert opened.quiet()


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("lower,1", [0, 5, 1, 2, 3, 4, 6, 7]),
        ("lower,-1", [4, 3, 1, 2, 0, 5, 6, 7]),
        ("upper,1", [0, 1, 2, 4, 3, 5, 6, 7]),
        ("upper,-1", [4, 2, 1, 0, 3, 5, 6, 7]),
        ("pr,1", [0, 2, 1, 5, 3, 4, 6, 7]),
        ("pr,-1", [3, 4, 5, 1, 2, 0, 6, 7]),
        ("", range(8)),
    ],
)
def test_sorting_puts_the_unknown_last(
    browser: Any, report: Path, order: str, expected: list[int]
) -> None:
    opened = Opened(browser, report)
    opened.page.get_by_label("Sort").select_option(order)
    assert opened.shown() == [ALL[i] for i in expected]


def test_it_is_complete_without_scripts(browser: Any, report: Path) -> None:
    opened = Opened(browser, report, java_script_enabled=False)
    assert opened.shown() == ALL
    assert not opened.page.locator("form.controls").is_visible()
    row = opened.page.locator("details.text").nth(1)
    row.locator("summary").first.click()
    row.locator("details.candidates summary").click()
    assert row.get_by_text("swapped, other").first.is_visible()
    assert opened.quiet()


def test_hostile_texts_stay_inert(browser: Any, tmp_path: Path) -> None:
    for i, hostile in enumerate(HOSTILE):
        cases = [
            Case("a fine film", (1, 2), proved=0, words=(hostile, hostile)),
            Case(f"{hostile} and more", "skipped"),
            Case("a fine film too", "error", error=hostile),
        ]
        folder = run(
            tmp_path / str(i), cases, victim=hostile, attacks=(hostile, "b"), command=[hostile],
            labels=[hostile, hostile],
        )  # fmt: skip
        opened = Opened(browser, write([folder, folder], tmp_path / f"{i}.html"))
        opened.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        opened.page.locator(".words").first.hover()
        assert opened.page.evaluate("window.hacked === undefined")
        assert opened.page.locator("#hacked, main img, main script, [onload]").count() == 0
        assert opened.quiet(), (hostile, opened.complaints, opened.requests)
        opened.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_scrolls_tables_not_the_page(browser: Any, report: Path, scheme: str) -> None:
    opened = Opened(browser, report, viewport={"width": 390, "height": 844}, color_scheme=scheme)
    opened.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 390
    colour = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
    dark = sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(","))) < 3 * 128
    assert dark == (scheme == "dark")


CONTRAST = """() => {
  const canvas = document.createElement('canvas').getContext('2d');
  const light = (colour) => {
    canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    const parts = Array.from(canvas.getImageData(0, 0, 1, 1).data.slice(0, 3), (v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const style = getComputedStyle(document.documentElement);
  const pairs = [['ink', 'paper'], ['muted', 'paper'], ['ink', 'wash-proved'], ['ink', 'wash-attacked'],
    ['ink', 'wash-unknown'], ['attacked', 'paper'], ['ink', 'raised'], ['muted', 'raised'],
    ...[0, 1, 2, 3, 4, 5].map((i) => ['run' + i, 'paper'])];
  return pairs.map((pair) => {
    const [a, b] = pair.map((name) => light(style.getPropertyValue('--' + name))).sort((x, y) => y - x);
    return [pair.join(' on '), (a + 0.05) / (b + 0.05)];
  });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_the_contrast_that_wcag_asks_for(browser: Any, report: Path, scheme: str) -> None:
    opened = Opened(browser, report, color_scheme=scheme)
    ratios = dict(opened.page.evaluate(CONTRAST))
    assert {pair: ratio for pair, ratio in ratios.items() if ratio < 4.5} == {}


def test_printing_unfolds_the_evidence_and_folds_it_again(browser: Any, report: Path) -> None:
    opened = Opened(browser, report)
    count = "document.querySelectorAll('details.text[open]').length"
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.page.evaluate(count) == 8
    assert opened.page.locator("details.candidates[open]").count() == 0
    opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert opened.page.evaluate(count) == 0
    opened.page.emulate_media(media="print")
    assert not opened.page.locator("form.controls").is_visible()


def test_the_page_about_attacks_filters_sorts_and_stays_inert(browser: Any, tmp_path: Path) -> None:
    found = [outcome(f"h:{i}", "a fine film", words=[hostile]) for i, hostile in enumerate(HOSTILE)]
    folder = attack_run(tmp_path / "run", [*OUTCOMES, *found], victim=HOSTILE[0], attack=HOSTILE[1])
    opened = Opened(browser, write([folder]), viewport={"width": 390, "height": 844})
    assert len(opened.choose("broken")) == 3 + len(HOSTILE)
    assert len(opened.choose("intact")) == 4
    assert opened.choose("error") == ["error"]
    opened.choose("")
    opened.page.get_by_label("Sort").select_option("swaps,-1")
    assert opened.shown()[0] == "3 swaps"
    opened.page.get_by_label("Search").fill("out of budget")
    assert opened.shown() == ["not broken: out of budget"]
    opened.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 390
    assert opened.page.evaluate("window.hacked === undefined")
    assert opened.page.locator("#hacked, main img, main script, [onload]").count() == 0
    assert opened.quiet(), (opened.complaints, opened.requests)
