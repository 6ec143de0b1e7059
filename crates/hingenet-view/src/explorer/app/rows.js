// @ts-check
// Rows to pick from: those that came with the page, or a CSV file that the user opens here; it is read in the browser and
// goes nowhere else.
import { cellOf, decided, findingsOf } from "./reasons.js";
import { percentOf } from "./charts.js";
import { shortNumber } from "./evidence.js";
/** @typedef {import("../types.d.ts").Given} Given */
/** @typedef {import("../types.d.ts").Engine} Engine */
/** @typedef {import("../types.d.ts").Finding} Finding */
/** @typedef {{ number: number, cells: (number | null)[], truth: number | null, answer: number, p: number, margin: number, surprise: number | null }} Row */

/** Rows shown at a time, and most rows read from a file. */
const SHOWN = 15, MOST = 20000;
/** Rows asked about at once. */
const BATCH = 500;

/** Records of a CSV text, quotes and line breaks in cells included. @param {string} text @returns {string[][]} */
export function parseCsv(text) {
  /** @type {string[][]} */
  const records = [];
  /** @type {string[]} */
  let record = [];
  let cell = "", inQuotes = false;
  const first = text.slice(0, text.search(/[\r\n]|$/));
  const separator = [",", ";", "\t"].reduce((best, s) => (first.split(s).length > first.split(best).length ? s : best), ",");
  for (let at = 0; at < text.length; at++) {
    const c = text[at];
    if (inQuotes) {
      if (c === '"' && text[at + 1] === '"') { cell += '"'; at++; }
      else if (c === '"') inQuotes = false;
      else cell += c;
    } else if (c === '"' && cell === "") inQuotes = true;
    else if (c === separator) { record.push(cell); cell = ""; }
    else if (c === "\n" || c === "\r") {
      if (c === "\r" && text[at + 1] === "\n") at++;
      record.push(cell);
      if (record.length > 1 || record[0] !== "") records.push(record);
      [record, cell] = [[], ""];
      if (records.length > MOST) return records;
    } else cell += c;
  }
  if (cell !== "" || record.length > 0) records.push([...record, cell]);
  return records;
}

/** @param {Given} given @param {Engine} engine @param {(row: Row) => void} pick @param {(text: string) => void} say */
export function rowsPanel(given, engine, pick, say) {
  const { columns, target } = given.facts;
  const names = columns[0].states || [];
  /** @type {Row[]} */
  let rows = [];
  let page = 0;
  /** @type {number | null} */
  let picked = null;
  const file = element("input", { type: "file", accept: ".csv,.tsv,.txt,text/csv" });
  const order = element("select", {}, ...[["number", "as in the file"], ["error", "errors first"], ["margin", "smallest margin first"], ["surprise", "unlikeliest first"]].map(([value, text]) => element("option", { value }, text)));
  const body = element("tbody", {});
  const table = element("table", {}, element("caption", {}, "Rows; press one to look at it"), element("thead", {}, element("tr", {}, ...["row", "truth", "prediction", "P", "margin", "ln P(row)"].map((text) => element("th", { scope: "col" }, text)))), body);
  const count = element("p", { className: "note" });
  const back = element("button", { type: "button" }, "Earlier rows"), on = element("button", { type: "button" }, "Later rows");
  const keys = {
    number: (/** @type {Row} */ r) => r.number,
    error: (/** @type {Row} */ r) => (r.truth === null ? 2 : r.truth === r.answer ? 1 : 0) * 1e9 - r.margin * (r.truth === r.answer ? 0 : 1),
    margin: (/** @type {Row} */ r) => r.margin,
    surprise: (/** @type {Row} */ r) => (r.surprise === null ? 0 : r.surprise),
  };
  function draw() {
    const key = keys[/** @type {keyof typeof keys} */ (order.value)];
    const sorted = rows.slice().sort((a, b) => key(a) - key(b) || a.number - b.number);
    const last = Math.max(0, Math.ceil(sorted.length / SHOWN) - 1);
    page = Math.min(Math.max(page, 0), last);
    back.disabled = page === 0;
    on.disabled = page >= last;
    const wrong = rows.filter((r) => r.truth !== null && r.truth !== r.answer).length, known = rows.filter((r) => r.truth !== null).length;
    count.textContent = rows.length === 0 ? "No rows yet. Open a CSV file with the columns of the model; it stays in this browser." : `${rows.length} rows${known > 0 ? `, ${wrong} of ${known} decided wrongly` : ""}.`;
    table.hidden = rows.length === 0;
    body.replaceChildren(...sorted.slice(page * SHOWN, page * SHOWN + SHOWN).map((row) => {
      const choose = element("button", { type: "button", className: "x-link" }, String(row.number));
      choose.setAttribute("aria-label", `Look at row ${row.number}`);
      choose.addEventListener("click", () => { picked = row.number; pick(row); draw(); });
      const isWrong = row.truth !== null && row.truth !== row.answer;
      const cells = [row.truth === null ? "?" : names[row.truth], (isWrong ? "✗ " : "") + names[row.answer], percentOf(row.p), shortNumber(row.margin), row.surprise === null ? "" : shortNumber(row.surprise)];
      const line = element("tr", {}, element("th", { scope: "row" }, choose), ...cells.map((text, k) => element("td", { className: k > 1 ? "number" : "" }, text)));
      if (row.number === picked) line.setAttribute("aria-current", "true");
      return line;
    }));
  }
  let loads = 0;
  /** Asks the engine about every row; rows that are opened meanwhile take over. @param {{ cells: (number | null)[], truth: number | null }[]} read */
  async function load(read) {
    const own = ++loads;
    /** @type {Row[]} */
    const found = [];
    for (let from = 0; from < read.length; from += BATCH) {
      say(`Reading rows: ${from} of ${read.length}`);
      const part = read.slice(from, from + BATCH);
      const answers = await engine.classes(part.map((r) => findingsOf(columns, r.cells)));
      if (own !== loads) return;
      answers.forEach(({ classes, logEvidence }, k) => {
        const sorted = classes.slice().sort((a, b) => b - a);
        const margin = Math.log(Math.max(sorted[0], 1e-300) / Math.max(sorted[1] || 0, 1e-300));
        found.push({ number: from + k + 1, ...part[k], answer: decided(classes), p: sorted[0], margin, surprise: logEvidence });
      });
    }
    rows = found;
    say(`${rows.length} rows read.`);
    page = 0;
    draw();
  }
  /** @param {string} text */
  function readFile(text) {
    const [head = [], ...records] = parseCsv(text.replace(/^\uFEFF/, ""));
    const at = columns.map((c) => head.findIndex((name) => name.trim() === c.name));
    if (at.every((k) => k < 0)) return say("None of the columns of the model is in this file: its first line must have their names.");
    const cell = (/** @type {string[]} */ record, /** @type {number} */ c) => (at[c] < 0 || record[at[c]] === undefined ? null : cellOf(given.facts, c, record[at[c]]));
    load(records.slice(0, MOST).map((record) => ({ cells: columns.map((_, c) => (c === 0 ? null : cell(record, c))), truth: cell(record, 0) }))).catch((e) => say(e.message));
  }
  file.addEventListener("change", () => { if (file.files && file.files[0]) file.files[0].text().then(readFile, (e) => say(e.message)); });
  order.addEventListener("change", () => { page = 0; draw(); });
  back.addEventListener("click", () => { page--; draw(); });
  on.addEventListener("click", () => { page++; draw(); });
  const scroll = element("div", { className: "scroll", tabIndex: 0 }, table);
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", `Rows of ${target}`);
  let isStarted = false;
  return {
    parts: [element("p", { className: "filters" }, element("label", {}, "rows of a CSV file ", file), element("label", {}, "sort ", order)), count, scroll, element("p", { className: "filters" }, back, on)],
    /** The rows that came with the page are asked about when they are first looked at. */
    start() {
      if (isStarted) return;
      isStarted = true;
      draw();
      if (!given.rows) return;
      const [truth, ...cells] = given.rows.columns;
      load(truth.map((own, m) => ({ cells: [null, ...cells.map((column) => column[m])], truth: own }))).catch((e) => say(e.message));
    },
  };
}
