"use strict";
// The page is complete without this: it only filters, sorts and unfolds what is already there.
const searched = (summary) => {
  // The text before and after the swaps, so that a phrase is found in either.
  const versions = ["ins, .arrow", "del, .arrow"].map((gone) => {
    const copy = summary.cloneNode(true);
    for (const part of copy.querySelectorAll(gone)) part.remove();
    return copy.textContent;
  });
  return versions.join("\n").toLowerCase();
};

for (const form of document.querySelectorAll("form.controls")) {
  const list = document.getElementById(form.dataset.list);
  const rows = Array.from(list.querySelectorAll(":scope > details.text"), (row, at) => ({
    row,
    at,
    kinds: row.dataset.kinds.split(" "),
    words: searched(row.querySelector("summary")),
  }));
  const search = form.querySelector("input");
  const sort = form.querySelector("select");
  const shown = form.querySelector("output");
  const buttons = Array.from(form.querySelectorAll("button"));
  let kind = "";

  const filter = () => {
    const wanted = search.value.trim().toLowerCase();
    let count = 0;
    for (const { row, kinds, words } of rows) {
      const fits = (!kind || kinds.includes(kind)) && words.includes(wanted);
      row.hidden = !fits;
      count += fits ? 1 : 0;
    }
    shown.textContent = `${count} of ${rows.length} shown`;
  };

  const number = (text) => (text === "" ? null : text === "inf" ? Infinity : Number(text));
  const reorder = () => {
    const [key, sign] = sort.value.split(",");
    const order = rows.slice();
    if (key) {
      order.sort((a, b) => {
        const [x, y] = [number(a.row.dataset[key]), number(b.row.dataset[key])];
        // What has no such number comes last in either direction.
        if (x === null || y === null) return (x === null) - (y === null) || a.at - b.at;
        return x === y ? a.at - b.at : (x < y ? -1 : 1) * Number(sign);
      });
    }
    list.append(...order.map(({ row }) => row));
  };

  for (const button of buttons) {
    button.addEventListener("click", () => {
      kind = button.dataset.kind;
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      filter();
    });
  }
  search.addEventListener("input", filter);
  sort.addEventListener("change", reorder);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();
}

// On paper nothing unfolds: evidence and origin are printed, the long lists of candidates are not.
let folded = [];
addEventListener("beforeprint", () => {
  folded = Array.from(document.querySelectorAll("details.text:not([open]), details.origin:not([open])"));
  for (const part of folded) part.open = true;
});
addEventListener("afterprint", () => {
  for (const part of folded) part.open = false;
});
