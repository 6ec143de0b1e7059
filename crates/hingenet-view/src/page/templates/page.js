"use strict";
function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
// Sorting of tables: a click on a column head, or Enter on it.
function sortable(table) {
  const heads = table.tHead.rows[0].cells;
  for (let column = 0; column < heads.length; column++) {
    const head = heads[column];
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.textContent = "";
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = Array.from(table.tBodies[0].rows);
      rows.sort((a, b) => (up ? 1 : -1) * compare(a.cells[column], b.cells[column]));
      table.tBodies[0].append(...rows);
    });
  }
}
function compare(a, b) {
  const x = a.dataset.v, y = b.dataset.v;
  if (x !== undefined && y !== undefined) return Number(x) - Number(y);
  if (x !== undefined || y !== undefined) return x !== undefined ? -1 : 1;
  return a.textContent.localeCompare(b.textContent);
}
// Alternatives as tabs; without this script they stand one below the other.
function tabs(box, number) {
  const panels = Array.from(box.querySelectorAll(":scope > .tab"));
  if (panels.length < 2) return;
  const list = document.createElement("div");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", box.closest("section").querySelector("h2").textContent);
  const buttons = panels.map((panel, k) => {
    const button = document.createElement("button");
    button.type = "button";
    button.id = "tab-" + number + "-" + k;
    button.setAttribute("role", "tab");
    button.setAttribute("aria-controls", panel.id);
    button.textContent = panel.querySelector("h3").textContent;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", button.id);
    list.append(button);
    return button;
  });
  function show(k, focus) {
    panels.forEach((panel, i) => { panel.hidden = i !== k; });
    buttons.forEach((button, i) => {
      button.setAttribute("aria-selected", String(i === k));
      button.tabIndex = i === k ? 0 : -1;
    });
    if (focus) buttons[k].focus();
  }
  buttons.forEach((button, k) => {
    button.addEventListener("click", () => show(k, false));
    button.addEventListener("keydown", (event) => {
      const n = buttons.length;
      const to = { ArrowRight: (k + 1) % n, ArrowLeft: (k + n - 1) % n, Home: 0, End: n - 1 }[event.key];
      if (to !== undefined) { event.preventDefault(); show(to, true); }
    });
  });
  box.prepend(list);
  box.classList.add("live");
  show(0, false);
}
// A link to something that is folded opens it.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.querySelector("summary").focus({ preventScroll: true });
    target.scrollIntoView({ block: "nearest" });
  }
}
document.querySelectorAll("table.sortable").forEach(sortable);
document.querySelectorAll(".tabs").forEach(tabs);
addEventListener("hashchange", openTarget);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (link && link.getAttribute("href") === location.hash) openTarget();
});
addEventListener("beforeprint", () => {
  document.querySelectorAll(".tab").forEach((panel) => { panel.hidden = false; });
});
openTarget();
