// Filters of drawn networks: arcs from a size or a support on, and the neighbours of a node. Without this script all
// arcs are there.
const FEW_ARCS = 30, FIRST_ARCS = 100;
function slider(name, most, change) {
  const input = element("input", { type: "range", min: "0", max: String(most), step: String(most / 200), value: "0" });
  const shown = element("output", {});
  const tell = () => { shown.textContent = Number(input.value).toFixed(2); };
  input.addEventListener("input", () => { tell(); change(); });
  return { input, tell, label: element("label", {}, name + " ", input, " ", shown) };
}
function networkFilters(section) {
  const panels = Array.from(section.querySelectorAll("svg.panel"), (svg) => ({
    nodes: Array.from(svg.querySelectorAll(".node")),
    links: Array.from(svg.querySelectorAll(".link"), (mark) => ({
      mark, from: mark.dataset.from, to: mark.dataset.to, size: Number(mark.dataset.size), support: mark.dataset.support,
    })),
  }));
  const links = panels.flatMap((p) => p.links);
  if (Math.max(0, ...panels.map((p) => p.links.length)) < FEW_ARCS) return;
  const size = slider("Arcs of weight, or change, from", Math.max(...links.map((l) => l.size)), apply);
  const resampled = links.some((l) => l.support !== undefined);
  const support = slider("in this share of the runs", 1, apply);
  const names = panels[0].nodes.map((n) => [n.dataset.i, n.querySelector("title").textContent]);
  names.sort((a, b) => a[1].localeCompare(b[1], undefined, { numeric: true }));
  const chosen = element("select", {}, element("option", { value: "", textContent: "all nodes" }),
    ...names.map(([value, textContent]) => element("option", { value, textContent })));
  chosen.addEventListener("change", apply);
  const count = element("output", { className: "count" });
  const box = element("div", { className: "filters" }, size.label, ...(resampled ? [support.label] : []),
    element("label", {}, "Neighbours of ", chosen), count);
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Filter: " + section.querySelector("h2").textContent);
  let pointed = "";
  function apply() {
    const node = pointed || chosen.value;
    const counts = panels.map(({ nodes, links }) => {
      const near = new Set([node]);
      let shown = 0;
      for (const { mark, from, to, size: weight, support: share } of links) {
        const off = weight < Number(size.input.value) || Number(share ?? 1) < Number(support.input.value);
        const touches = node === "" || from === node || to === node;
        mark.classList.toggle("off", off);
        mark.classList.toggle("faint", !touches);
        if (!off && touches) { near.add(from).add(to); shown += 1; }
      }
      nodes.forEach((n) => n.classList.toggle("faint", node !== "" && !near.has(n.dataset.i)));
      return shown + " of " + links.length;
    });
    count.textContent = counts.join(", ") + " arcs";
  }
  // Pointing at a node shows its neighbours for that time.
  for (const node of panels.flatMap((p) => p.nodes)) {
    const point = (i) => () => { pointed = i; apply(); };
    const holder = node.closest("a") ?? node;
    holder.addEventListener("mouseenter", point(node.dataset.i));
    holder.addEventListener("mouseleave", point(""));
    holder.addEventListener("focus", point(node.dataset.i));
    holder.addEventListener("blur", point(""));
  }
  // Large networks begin with their strongest arcs.
  const cut = Math.max(...panels.map(({ links }) => {
    const sizes = links.map((l) => l.size).sort((a, b) => b - a);
    return sizes.length > FIRST_ARCS ? sizes[FIRST_ARCS - 1] : 0;
  }));
  const step = Number(size.input.step);
  size.input.value = String(Math.ceil(cut / step) * step);
  size.tell();
  support.tell();
  section.querySelector(".figures").before(box);
  apply();
}
document.querySelectorAll("section").forEach(networkFilters);
