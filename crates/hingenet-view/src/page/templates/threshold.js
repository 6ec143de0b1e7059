// A table that follows a threshold: without this script it shows the answers as they were given.
function threshold(box) {
  const series = Array.from(box.querySelectorAll("template"), (t) => t.dataset);
  const choice = (key) => element("select", {},
    ...Array.from(new Set(series.map((one) => one[key])), (value) => element("option", { value, textContent: value })));
  const model = choice("model"), looked = choice("class");
  const slider = element("input", { type: "range", min: "1", max: "99", step: "1", value: "50" });
  const said = element("output", {});
  [model, looked, slider].forEach((control) => control.addEventListener("input", update));
  box.prepend(element("div", { className: "filters" }, element("label", {}, "Model ", model), element("label", {}, "Class ", looked),
    element("label", { className: "wide" }, "Threshold ", slider, said)));
  const table = box.querySelector("table");
  function update() {
    const one = series.find((s) => s.model === model.value && s.class === looked.value);
    const at = (list) => Number(list.split(" ")[slider.value - 1]);
    const found = at(one.found), alarms = at(one.alarms);
    const missed = one.positive - found, spared = one.negative - alarms;
    const rows = [[found, missed], [spared, alarms], [found, alarms], [spared, missed]];
    rows.forEach(([right, wrong], k) => fill(table.tBodies[0].rows[k].cells, right, right + wrong, box.dataset.repeats));
    said.textContent = slider.value + " %";
    slider.setAttribute("aria-valuetext", said.textContent);
    table.caption.textContent = one.model + ": " + one.class + " against the rest, answered where its probability is at least " + said.textContent;
  }
  update();
}
// A share with Wilson's 95 % interval, as in the library (evaluate/interval.rs); rows tested several times count once.
function fill(cells, right, all, repeats) {
  const share = right / all, k = 1.959963984540054 ** 2 * repeats / all;
  const centre = share + k / 2, half = Math.sqrt(k * share * (1 - share) + k * k / 4);
  const clamp = (x) => Math.min(Math.max(x, 0), 1);
  [share, Math.min(clamp((centre - half) / (1 + k)), share), Math.max(clamp((centre + half) / (1 + k)), share)].forEach((x, j) => {
    cells[j + 1].textContent = all > 0 ? (100 * x).toFixed(2) : "\u2013";
    if (all > 0) cells[j + 1].dataset.v = x; else delete cells[j + 1].dataset.v;
  });
  const amount = (x) => (Number.isInteger(x) ? String(x) : x.toFixed(2));
  cells[4].textContent = amount(right) + " of " + amount(all);
}
document.querySelectorAll(".threshold").forEach(threshold);
