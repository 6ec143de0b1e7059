// Saving of a figure: its picture with title and legend, as it is shown, and its numbers.
const LOOK = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
  "opacity", "display", "paint-order", "font-family", "font-size", "font-weight"];
const SVG = "http://www.w3.org/2000/svg";
function dressed(svg) {
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, k) => {
    const style = getComputedStyle(element);
    LOOK.forEach((name) => to[k].setAttribute(name, style.getPropertyValue(name)));
    to[k].removeAttribute("class");
  });
  return copy;
}
function drawing(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  if (text) made.textContent = text;
  return made;
}
function picture(figure) {
  const svg = figure.querySelector("svg.chart, svg.network");
  const { width, height } = svg.viewBox.baseVal, style = getComputedStyle(document.body);
  const letters = { "font-family": style.fontFamily, "font-size": 13, fill: style.color };
  const lines = (figure.querySelector("figcaption strong").textContent + " ").match(/.{1,52}(\s|$)|.{52}/g) || [];
  const top = 8 + 18 * lines.length, entries = Array.from(figure.querySelectorAll(".legend li"));
  const tall = top + height + 20 * entries.length + 8;
  const whole = drawing("svg", { xmlns: SVG, viewBox: `0 0 ${width + 16} ${tall}`, width: width + 16, height: tall });
  whole.append(drawing("rect", { width: width + 16, height: tall, fill: style.backgroundColor }));
  lines.forEach((line, k) => whole.append(drawing("text", { ...letters, "font-weight": 600, x: 8, y: 20 + 18 * k }, line.trim())));
  const place = (copy, x, y, w, h) => {
    Object.entries({ x, y, width: w, height: h, overflow: "visible" }).forEach(([key, value]) => copy.setAttribute(key, value));
    whole.append(copy);
  };
  place(dressed(svg), 8, top, width, height);
  entries.forEach((entry, k) => {
    const y = top + height + 20 * k;
    place(dressed(entry.querySelector("svg")), 10, y + 4, 24, 12);
    whole.append(drawing("text", { ...letters, x: 40, y: y + 14 }, entry.textContent.trim()));
  });
  return { text: new XMLSerializer().serializeToString(whole), width: width + 16, height: tall };
}
function numbers(table) {
  const quoted = (text) => (/[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text);
  const cell = (c) => quoted(c.textContent.trim());
  return Array.from(table.rows, (row) => Array.from(row.cells, cell).join(",") + "\n").join("");
}
function download(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
function savePng(name, { text, width, height }) {
  const image = new Image(), scale = 3;
  image.onload = () => {
    const canvas = element("canvas", { width: scale * width, height: scale * height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(image.src);
    canvas.toBlob((blob) => download(name, blob));
  };
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
}
function saving(figure) {
  const line = element("p", { className: "save" }, "Save as ");
  const table = figure.querySelector(".numbers table");
  const kinds = {
    SVG: () => download(figure.id + ".svg", new Blob([picture(figure).text], { type: "image/svg+xml" })),
    PNG: () => savePng(figure.id + ".png", picture(figure)),
    CSV: () => download(figure.id + ".csv", new Blob([numbers(table)], { type: "text/csv" })),
  };
  if (!table) delete kinds.CSV;
  for (const [kind, save] of Object.entries(kinds)) {
    const button = element("button", { type: "button", textContent: kind });
    button.setAttribute("aria-label", "Save " + figure.querySelector("figcaption strong").textContent + " as " + kind);
    button.addEventListener("click", save);
    line.append(button, " ");
  }
  figure.append(line);
}
document.querySelectorAll("figure").forEach(saving);
