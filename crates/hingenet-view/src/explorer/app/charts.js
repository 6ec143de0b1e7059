// @ts-check
// Figures of the explorer: a caption, a drawing, its numbers as a table, and ways to save them. They are drawn again when
// something changes, the frame stays.
import { shortNumber } from "./evidence.js";
/** @typedef {{ label: string, value: number, text: string, css?: string, from?: number, title?: string }} Bar */

/** Width of a drawing. */
const WIDE = 400;
/** Height of a line. */
const LINE = 20;
/** Room for labels and for values. */
const LABELS = 150, VALUES = 66;
/** Widths that were measured. @type {Map<string, number>} */
const WIDTHS = new Map();

/** An SVG element with children. @param {string} name @param {Record<string, string | number>} attributes @param {...(Node | string)} children */
export function shape(name, attributes, ...children) {
  const made = drawing(name, attributes);
  made.append(...children);
  return made;
}

/** Width of a text in the letters of drawings. @param {string} text */
function widthOf(text) {
  const known = WIDTHS.get(text);
  if (known !== undefined) return known;
  const pen = element("canvas", {}).getContext("2d");
  if (pen) pen.font = `13px ${getComputedStyle(document.body).fontFamily}`;
  const width = pen ? pen.measureText(text).width : 8 * text.length;
  WIDTHS.set(text, width);
  return width;
}

/** A text that fits, with the whole of it as its title. @param {string} text @param {number} room @param {Record<string, string | number>} attributes */
export function label(text, room, attributes) {
  if (widthOf(text) <= room) return shape("text", attributes, text);
  const whole = Array.from(text);
  let most = whole.length - 1;
  while (most > 1 && widthOf(whole.slice(0, most).join("") + "…") > room) most = Math.min(most - 1, Math.ceil((most * room) / widthOf(whole.slice(0, most).join("") + "…")));
  return shape("text", attributes, shape("title", {}, text), whole.slice(0, most).join("") + "…");
}

/** The numbers of a figure, folded. @param {string} title */
export function numbersOf(title) {
  const table = element("table", {});
  const scroll = element("div", { className: "scroll", tabIndex: 0 }, table);
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", title);
  const summary = element("summary", {}, "Numbers of this figure", element("span", { className: "unseen" }, `: ${title}`));
  return {
    details: element("details", { className: "numbers" }, summary, scroll),
    /** @param {string} caption @param {string[]} header @param {(string | number)[][]} rows */
    fill(caption, header, rows) {
      const cell = (/** @type {string | number} */ value, /** @type {number} */ k) => {
        if (k === 0) return element("th", { scope: "row" }, String(value));
        return typeof value === "number" ? element("td", { className: "number" }, shortNumber(value)) : element("td", {}, value);
      };
      table.replaceChildren(
        element("caption", {}, caption),
        element("thead", {}, element("tr", {}, ...header.map((text) => element("th", { scope: "col" }, text)))),
        element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell)))));
    },
  };
}

/** A figure that can be drawn again. @param {string} id @param {string} title */
export function liveFigure(id, title) {
  const name = element("strong", { id: `${id}-title` }, title);
  const reading = element("span", { className: "reading" });
  const numbers = numbersOf(title);
  const place = element("div", { className: "x-drawing" });
  const figure = element("figure", { id }, element("figcaption", {}, name, " ", reading), place, numbers.details);
  figure.setAttribute("aria-labelledby", `${id}-title`);
  saving(figure);
  return {
    figure,
    /** @param {{ title?: string, reading: string, svg: Element, header: string[], rows: (string | number)[][] }} now */
    draw(now) {
      if (now.title !== undefined) name.textContent = now.title;
      reading.textContent = now.reading;
      place.replaceChildren(now.svg);
      numbers.fill(name.textContent || "", now.header, now.rows);
    },
  };
}

/** Bars one below the other; with `from` they float, as in a waterfall. @param {string} title @param {Bar[]} bars @param {number} [full] @param {number} [wide] */
export function barChart(title, bars, full, wide = WIDE) {
  const ends = bars.flatMap((b) => [b.from || 0, (b.from || 0) + b.value, 0]);
  const low = Math.min(0, ...ends), high = Math.max(full === undefined ? 1e-9 : full, ...ends);
  const labels = Math.round(0.375 * wide);
  const room = wide - labels - VALUES;
  const x = (/** @type {number} */ v) => labels + (room * (v - low)) / (high - low || 1);
  const svg = shape("svg", { class: "chart", viewBox: `0 0 ${wide} ${bars.length * LINE + 6}`, role: "img", "aria-label": title });
  svg.append(shape("path", { class: "axis", d: `M${x(0).toFixed(1)} 0V${bars.length * LINE + 4}` }));
  bars.forEach((bar, k) => {
    const from = x(bar.from || 0), to = x((bar.from || 0) + bar.value), y = k * LINE + 3;
    const rect = shape("rect", { class: bar.css || "bar s0", x: Math.min(from, to).toFixed(2), y: y + 2, width: Math.max(Math.abs(to - from), 0.8).toFixed(2), height: LINE - 7 });
    svg.append(rect, label(bar.label, labels - 6, { x: labels - 6, y: y + 13, "text-anchor": "end" }), shape("text", { class: "value", x: wide - 2, y: y + 13, "text-anchor": "end" }, bar.text));
  });
  return svg;
}

/**
 * Distributions side by side: groups of bars, one bar a series.
 * @param {string} title @param {string[]} groups @param {{ name: string, values: number[] }[]} series
 */
export function groupedBars(title, groups, series) {
  const room = WIDE - LABELS - VALUES, bar = series.length > 3 ? 6 : 9;
  const high = series.length * bar + 8;
  const svg = shape("svg", { class: "chart", viewBox: `0 0 ${WIDE} ${groups.length * high + 4}`, role: "img", "aria-label": title });
  groups.forEach((group, g) => {
    svg.append(label(group, LABELS - 6, { x: LABELS - 6, y: g * high + high / 2 + 4, "text-anchor": "end" }));
    series.forEach((one, s) => {
      const rect = shape("rect", { class: `bar s${s % 8}`, x: LABELS, y: g * high + 4 + s * bar, width: Math.max(room * one.values[g], 0.6).toFixed(2), height: bar - 1.5 });
      rect.append(shape("title", {}, `${one.name}, ${group}: ${percentOf(one.values[g])}`));
      svg.append(rect);
    });
  });
  return svg;
}

/**
 * Curves over one axis, with marks along it.
 * @param {string} title @param {[number, number]} ends @param {{ name: string, points: [number, number][] }[]} curves @param {number[]} rules @param {number} height
 */
export function curveChart(title, ends, curves, rules, height) {
  const left = 14, right = WIDE - 14, low = height - 22;
  const top = Math.max(1e-300, ...curves.flatMap((c) => c.points.map(([, y]) => y)));
  const x = (/** @type {number} */ v) => left + ((right - left) * (v - ends[0])) / (ends[1] - ends[0]);
  const svg = shape("svg", { class: "chart", viewBox: `0 0 ${WIDE} ${height}`, role: "img", "aria-label": title });
  svg.append(shape("path", { class: "axis", d: `M${left} ${low}H${right}` }));
  rules.filter((v) => v >= ends[0] && v <= ends[1]).forEach((v) => svg.append(shape("path", { class: "rule", d: `M${x(v).toFixed(1)} 4V${low}` })));
  curves.forEach((curve, s) => svg.append(shape("g", { class: `s${s % 8}` }, shape("path", { class: "line", d: linePath(curve.points, x, (y) => low - ((low - 8) * y) / top) }))));
  svg.append(shape("text", { class: "tick", x: left, y: height - 6 }, shortNumber(ends[0])), shape("text", { class: "tick", x: right, y: height - 6, "text-anchor": "end" }, shortNumber(ends[1])));
  return svg;
}

/** @param {[number, number][]} points @param {(x: number) => number} x @param {(y: number) => number} y */
export function linePath(points, x, y) {
  return points.map(([u, v], k) => `${k === 0 ? "M" : "L"}${x(u).toFixed(1)} ${y(v).toFixed(1)}`).join("");
}

/** A legend of series, as the figures of the page have it. @param {string[]} names */
export function legendOf(names) {
  const entry = (/** @type {string} */ name, /** @type {number} */ s) => {
    const key = shape("svg", { viewBox: "0 0 24 12", width: 24, height: 12, "aria-hidden": "true" }, shape("rect", { class: "bar", x: 2, y: 2, width: 20, height: 8 }));
    return element("li", { className: `s${s % 8}` }, key, ` ${name}`);
  };
  return element("ul", { className: "legend" }, ...names.map(entry));
}

/** @param {number} p */
export function percentOf(p) {
  if (p > 1e-9 && p < 0.0005) return "<0.1 %";
  if (p < 1 - 1e-9 && p > 0.9995) return ">99.9 %";
  return `${(100 * p).toFixed(1)} %`;
}
