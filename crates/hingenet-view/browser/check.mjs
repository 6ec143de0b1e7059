// Opens pages in a real browser, at two widths, light, dark and printed, and looks at them as a reader would.
// Usage: node check.mjs CHROMIUM PAGE.html... ; exit code 1 and a line for each thing that is wrong.
// A page may have its figures beside it as PAGE.json (`evaluate --json`); then its cells must hold them.
import { existsSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import path from "node:path";
import { chromium } from "playwright-core";

const [executablePath, ...pages] = process.argv.slice(2);
const HOSTILE = "<img src=x onerror=alert(1)>";
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const faults = [];

const browser = await chromium.launch({ executablePath, headless: true, args: FLAGS });
for (const file of pages) {
  for (const width of [1280, 360]) {
    for (const colorScheme of ["light", "dark"]) {
      await look(file, width, colorScheme);
    }
  }
}
await lookWithoutScript(pages.find((file) => path.basename(file) === "evaluation.html"));
await browser.close();
faults.forEach((fault) => console.error(fault));
console.log(`${pages.length} pages looked at, ${faults.length} faults`);
process.exit(faults.length > 0 ? 1 : 0);

async function look(file, width, colorScheme) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, acceptDownloads: true });
  const page = await context.newPage();
  page.setDefaultTimeout(180000); // machines that test are busy
  const url = pathToFileURL(path.resolve(file)).href;
  const fault = (text) => faults.push(`${path.basename(file)} at ${width} px, ${colorScheme}: ${text}`);
  page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") fault(`console: ${m.text()}`); });
  page.on("pageerror", (e) => fault(`script: ${e.message}`));
  page.on("dialog", (d) => { fault(`a dialog opened: ${d.message()}`); d.dismiss(); });
  page.on("request", (r) => { if (r.url().split("#")[0] !== url && !r.url().startsWith("blob:")) fault(`asked for ${r.url()}`); });
  await page.goto(url);
  (await page.evaluate(inspectPage, width)).forEach(fault);
  (await page.evaluate(inspectContrast)).forEach(fault);
  if (!file.includes("plain") && !(await page.textContent("body")).includes(HOSTILE)) fault("the hostile name is not there as text");
  await checkTabs(page, fault, width);
  await checkSorting(page, fault);
  await checkNodes(page, fault);
  await checkFilters(page, fault);
  (await page.evaluate(inspectNetworks)).forEach(fault);
  await checkPanel(file, page, fault);
  if (colorScheme === "light") {
    await checkNames(context, page, fault);
    await checkFocus(page, url, fault);
    await checkNumbers(file, page, fault);
    if (width === 1280) await checkSaving(page, fault);
  }
  if (width === 1280) await checkPrint(page, fault);
  await context.close();
}

// Runs in the page: what is visible must be inside, not clipped, not empty, and not overlap.
function inspectPage(width) {
  const found = [];
  const visible = (e) => e.checkVisibility() && e.getBoundingClientRect().width > 0;
  if (document.images.length > 0) found.push("there is an image");
  if (document.scrollingElement.scrollWidth > width + 1) {
    found.push(`the page is ${document.scrollingElement.scrollWidth} px wide`);
  }
  const figures = [...document.querySelectorAll("figure")].filter(visible);
  if (figures.length === 0) found.push("there is no figure");
  const boxes = figures.map((f) => [f.id, f.getBoundingClientRect()]);
  boxes.forEach(([a, p], i) => boxes.slice(0, i).forEach(([b, q]) => {
    const apart = p.right <= q.left + 1 || q.right <= p.left + 1 || p.bottom <= q.top + 1 || q.bottom <= p.top + 1;
    if (!apart) found.push(`figures ${a} and ${b} overlap`);
  }));
  for (const svg of [...document.querySelectorAll("figure svg.chart, figure svg.network")].filter(visible)) {
    const id = svg.closest("figure").id;
    const box = svg.getBoundingClientRect();
    const isChart = svg.classList.contains("chart");
    if (box.width < 200 || box.height < 25) found.push(`${id} is too small`);
    if (isChart && (box.left < 0 || box.right > width + 1)) found.push(`${id} leaves the page`);
    if (svg.querySelectorAll("path.line, path.mark, path.dot, rect").length === 0) found.push(`${id} is empty`);
    // signs stand on arcs, and arcs cross
    const texts = [...svg.querySelectorAll("text:not(.sign)")].map((t) => [t.lastChild ? t.lastChild.textContent : "", t.getBoundingClientRect()]);
    for (const [text, t] of texts) {
      const inside = t.left >= box.left - 1 && t.right <= box.right + 1 && t.top >= box.top - 1 && t.bottom <= box.bottom + 1;
      if (!inside) found.push(`${id}: the label “${text}” is clipped`);
    }
    // boxes of letters reach above and below them; the letters of upright texts to the left and right
    const slack = (r) => (r.height > r.width ? [0.3 * r.width, 1] : [1, 0.3 * r.height]);
    texts.forEach(([a, p], i) => texts.slice(0, i).forEach(([b, q]) => {
      const [x, y] = [0, 1].map((k) => Math.min(slack(p)[k], slack(q)[k]));
      const apart = p.right <= q.left + x || q.right <= p.left + x || p.bottom <= q.top + y || q.bottom <= p.top + y;
      if (!apart) found.push(`${id}: the labels “${a}” and “${b}” overlap`);
    }));
  }
  return found;
}

// Runs in the page: panels of networks have one size, labels of nodes stay in their boxes, changes have a sign.
function inspectNetworks() {
  const found = [];
  const panels = [...document.querySelectorAll("svg.panel")].map((p) => p.getBoundingClientRect());
  if (panels.some((p) => Math.abs(p.width - panels[0].width) > 1)) found.push("panels differ in width");
  for (const node of document.querySelectorAll("svg.panel .node")) {
    const [box, text] = ["rect", "text"].map((t) => node.querySelector(t).getBoundingClientRect());
    if (text.left < box.left || text.right > box.right) found.push(`the label “${node.textContent}” leaves its box`);
  }
  for (const kind of ["gained", "lost", "reversed", "changed"]) {
    const arcs = document.querySelectorAll(`svg.network .arc.${kind}`).length;
    const signs = document.querySelectorAll(`svg.network .sign.${kind}`).length;
    if (arcs !== signs) found.push(`${arcs} arcs ${kind}, but ${signs} signs`);
  }
  return found;
}

// Runs in the page: letters stand out from what is behind them (at least 4.5 to 1).
function inspectContrast() {
  const parse = (c) => c.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const f = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
  };
  const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const paper = parse(getComputedStyle(document.body).backgroundColor);
  const seen = new Map();
  const judge = (what, ink, back) => {
    const r = ratio(ink, back);
    if (r < 4.5 && !seen.has(what)) seen.set(what, `${what}: contrast ${r.toFixed(2)}`);
  };
  for (const e of document.querySelectorAll("p, li, a, td, th, summary, figcaption, .reading, dt, dd, caption, button")) {
    let holder = e;
    let back = parse(getComputedStyle(holder).backgroundColor);
    while (back.length === 4 && back[3] === 0 && holder.parentElement) {
      holder = holder.parentElement;
      back = parse(getComputedStyle(holder).backgroundColor);
    }
    judge(`${e.tagName.toLowerCase()}.${e.className}`, parse(getComputedStyle(e).color), back.length === 4 && back[3] === 0 ? paper : back);
  }
  for (const t of document.querySelectorAll("svg text")) {
    const style = getComputedStyle(t);
    let back = paper;
    const cell = t.previousElementSibling;
    if (t.classList.contains("in-cell") && cell) {
      const fill = parse(getComputedStyle(cell).fill);
      const o = Number(cell.getAttribute("fill-opacity"));
      back = paper.map((v, k) => o * fill[k] + (1 - o) * v);
    }
    judge(`svg text.${t.getAttribute("class")}`, parse(style.fill), back.slice(0, 3));
  }
  return [...seen.values()];
}

async function checkTabs(page, fault, width) {
  for (const list of await page.$$("[role=tablist]")) {
    const tabs = await list.$$("[role=tab]");
    await tabs[1].click();
    const panel = await page.$(`[id="${await tabs[1].getAttribute("aria-controls")}"]`);
    if (!(await panel.isVisible())) fault("a tab does not show its panel");
    (await page.evaluate(inspectPage, width)).forEach(fault);
    await tabs[1].press("ArrowLeft");
    if (await panel.isVisible()) fault("the arrow key does not change the tab");
  }
}

// The slider moves the table: its counts are those of the JSON, and at 50 % of two classes its intervals too.
async function checkPanel(file, page, fault) {
  const panel = await page.$(".threshold");
  if (!panel) return;
  const beside = file.replace(/\.html$/, ".json");
  const results = existsSync(beside) ? JSON.parse(readFileSync(beside, "utf8")).results : [];
  const [model, looked] = await panel.$$("select");
  const slider = await panel.$("input[type=range]");
  const cells = () => panel.$$eval("tbody tr", (list) => list.map((row) => [...row.cells].slice(1).map((c) => c.dataset.v ?? c.textContent)));
  const names = await looked.$$eval("option", (list) => list.map((o) => o.value));
  await looked.selectOption(names.at(-1));
  const seen = [];
  for (const percent of [5, 50, 95]) {
    await slider.evaluate((s, v) => { s.value = v; s.dispatchEvent(new Event("input")); }, percent);
    const shown = await cells();
    seen.push(Number(shown[0][0]));
    if (!(await panel.textContent()).includes(`at least ${percent} %`)) fault("the threshold is not told");
    const name = await model.inputValue();
    const wanted = results.find((r) => r.model === name)?.classes.find((c) => c.class === names.at(-1));
    if (!wanted) continue;
    const { true_positives: tp, false_positives: fp } = wanted.thresholds[percent - 1];
    const { counts } = wanted;
    const positive = counts.true_positives + counts.false_negatives, negative = counts.false_positives + counts.true_negatives;
    const pairs = [[tp, positive], [negative - fp, negative], [tp, tp + fp], [negative - fp, negative - fp + positive - tp]];
    const rows = pairs.map(([right, all]) => `${right} of ${all}`);
    if (JSON.stringify(shown.map((row) => row[3])) !== JSON.stringify(rows)) fault(`at ${percent} % the rows are ${shown}, not ${rows}`);
    if (percent === 50 && names.length === 2) {
      const shares = ["sensitivity", "specificity", "ppv", "npv"].map((key) => wanted[key]);
      shares.forEach((s, k) => ["value", "low", "high"].forEach((end, j) => {
        if (Math.abs(Number(shown[k][j]) - s[end]) > 1e-9) fault(`${end} is ${shown[k][j]} in the page and ${s[end]} in the JSON`);
      }));
    }
  }
  if (!(seen[0] >= seen[1] && seen[1] >= seen[2] && seen[0] > seen[2])) fault(`sensitivities do not fall with the threshold: ${seen}`);
  await slider.focus();
  await page.keyboard.press("ArrowLeft");
  if (!(await panel.textContent()).includes("at least 94 %")) fault("the arrow key does not move the slider");
}

// The buttons below a figure give it away whole: a picture that stands for itself, and all numbers.
async function checkSaving(page, fault) {
  const figures = await page.$$("figure");
  for (const figure of figures) {
    if (!(await figure.isVisible())) continue;
    if ((await figure.$$(".save button")).length < 2) fault("a figure cannot be saved");
  }
  const figure = (await page.$("#accuracy")) ?? figures[0];
  for (const button of await figure.$$(".save button")) {
    const kind = (await button.textContent()).toLowerCase();
    await button.focus();
    const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
    const bytes = readFileSync(await download.path());
    if (!download.suggestedFilename().endsWith(`.${kind}`)) fault(`${kind} is saved as ${download.suggestedFilename()}`);
    const text = bytes.toString("utf8");
    const title = await figure.$eval("figcaption strong", (e) => e.textContent.slice(0, 20));
    if (kind === "svg") {
      const problem = await page.evaluate(({ text, title }) => {
        const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
        if (root.localName !== "svg") return "is no SVG";
        if (/class=|var\(|<script/.test(text)) return "needs a style sheet";
        if (!root.textContent.includes(title)) return "has no title";
        return root.querySelectorAll("path, rect").length > 3 ? "" : "is empty";
      }, { text, title });
      if (problem) fault(`the saved SVG ${problem}`);
    }
    if (kind === "png" && (bytes.readUInt32BE(0) !== 0x89504e47 || bytes.readUInt32BE(16) < 800 || bytes.length < 5000)) fault("the saved PNG is no picture");
    if (kind === "csv") {
      const rows = await figure.$$eval(".numbers tr", (list) => list.length);
      if (text.trimEnd().split("\n").length !== rows) fault(`the saved CSV has not ${rows} lines`);
    }
  }
}

// Without scripts the numbers stand all the same, and no control that would do nothing.
async function lookWithoutScript(file) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(pathToFileURL(path.resolve(file)).href);
  const fault = (text) => faults.push(`${path.basename(file)} without scripts: ${text}`);
  if (!(await page.isVisible(".threshold table"))) fault("the table of the threshold is not there");
  if ((await page.$$("button, select, input")).length > 0) fault("there are controls");
  if (!(await page.isVisible("figure#confusion-1 svg")) && !(await page.isVisible("figure svg"))) fault("there are no figures");
  await context.close();
}

async function checkSorting(page, fault) {
  for (const table of await page.$$("table.sortable")) {
    if (!(await table.isVisible()) || (await table.$$("tbody tr")).length < 2) continue;
    const heads = await table.$$("thead th");
    for (let column = 0; column < heads.length; column++) {
      await (await heads[column].$("button")).click();
      const values = await table.$$eval(
        "tbody tr", (list, k) => list.map((row) => row.cells[k].dataset.v).filter((v) => v !== undefined).map(Number), column);
      if (values.some((v, i) => i > 0 && v < values[i - 1])) fault(`column ${column} does not sort: ${values}`);
      const said = await Promise.all(heads.map((h) => h.getAttribute("aria-sort")));
      if (said.some((s, k) => s !== (k === column ? "ascending" : "none"))) fault(`the sorted column is not told: ${said}`);
    }
  }
}

async function checkNodes(page, fault) {
  const nodes = await page.$$("svg.network a");
  if (nodes.length === 0) return;
  await nodes[0].focus();
  await page.keyboard.press("Enter");
  await page.waitForTimeout(50);
  const target = await nodes[0].getAttribute("href");
  if (target.startsWith("#node-row-")) {
    const inView = await page.waitForFunction((id) => {
      const row = document.querySelector(id);
      const box = row.getBoundingClientRect();
      return row.tagName === "TR" && box.top >= -2 && box.bottom <= innerHeight + 2;
    }, target, { timeout: 3000 }).catch(() => false);
    if (!inView) fault("Enter on a node does not lead to its line");
    return;
  }
  const open = await page.$$eval("details.item", (list) => list.filter((d) => d.open).length);
  if (open !== 1) fault("Enter on a node does not open its table");
}

// Filters of networks: the slider hides arcs, a chosen node leaves its neighbours, and both can be taken back.
async function checkFilters(page, fault) {
  for (const box of await page.$$(".filters:has(.count)")) {
    await box.scrollIntoViewIfNeeded();
    await page.mouse.move(1, 1); // pointing at a node would choose it
    const section = await box.evaluateHandle((b) => b.closest("section"));
    // checkVisibility() takes parts of pictures for visible that are not displayed
    const count = (selector) => section.$$eval(
      selector, (list) => list.filter((e) => getComputedStyle(e).display !== "none").length);
    const size = await box.$("input[type=range]");
    const begin = await size.inputValue();
    await size.fill("0");
    const all = await count(".link");
    await size.focus();
    await page.keyboard.press("End");
    const few = await count(".link");
    if (few === 0 || few >= all / 2) fault(`the slider leaves ${few} of ${all} arcs`);
    await size.fill("0");
    await (await box.$("select")).selectOption({ index: 1 });
    const node = await (await box.$("select")).inputValue();
    const wrong = await section.evaluate((s, node) => [...s.querySelectorAll(".link")].filter((l) =>
      l.classList.contains("faint") === (l.dataset.from === node || l.dataset.to === node)).length, node);
    if (wrong > 0) fault(`${wrong} arcs are shown or dimmed wrongly`);
    if ((await count(".node.faint")) === 0) fault("a chosen node dims no other");
    const told = await (await box.$(".count")).textContent();
    const near = await count(".link:not(.faint):not(.off)");
    const sum = told.match(/\d+(?= of)/g).reduce((a, b) => a + Number(b), 0);
    if (sum !== near) fault(`“${told}”, but ${near} arcs are there`);
    await (await box.$("select")).selectOption({ index: 0 });
    if ((await count(".faint")) > 0) fault("what was dimmed stays so");
    await size.fill(begin);
  }
}

// What a screen reader meets: every figure, picture and control has a name.
async function checkNames(context, page, fault) {
  const session = await context.newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  const named = new Set([
    "figure", "img", "image", "button", "link", "tab", "tabpanel", "region", "table", "navigation", "DisclosureTriangle",
  ]);
  const count = {};
  for (const node of nodes.filter((n) => !n.ignored && named.has(n.role?.value))) {
    count[node.role.value] = (count[node.role.value] ?? 0) + 1;
    if (!node.name?.value?.trim()) fault(`a ${node.role.value} has no name`);
  }
  const figures = await page.$$eval("figure", (list) => list.filter((f) => f.checkVisibility()).length);
  if ((count.figure ?? 0) !== figures) fault(`${count.figure} of ${figures} figures are in the accessibility tree`);
  const titles = await page.$$eval("figure", (list) => list.map((f) => f.id));
  if (new Set(titles).size !== titles.length) fault("two figures have the same id");
  const levels = await page.$$eval("h1, h2, h3", (list) => list.map((h) => Number(h.tagName[1])));
  if (levels[0] !== 1 || levels.some((l, i) => i > 0 && l > levels[i - 1] + 1)) fault(`headings skip a level: ${levels}`);
}

// The Tab key goes through the page in reading order, and one sees where it is.
async function checkFocus(page, url, fault) {
  await page.goto(url);
  if (await page.$$eval("[tabindex]", (list) => list.some((e) => e.tabIndex > 0))) fault("a tabindex changes the order");
  await page.keyboard.press("Tab");
  const first = await page.evaluate(() => document.activeElement.className);
  if (first !== "skip") fault(`the first stop of the Tab key is ${first}`);
  await page.keyboard.press("Enter");
  if (await page.evaluate(() => document.activeElement.id) !== "content") fault("the skip link does not lead to the content");
  for (let k = 0; k < 40; k++) {
    await page.keyboard.press("Tab");
    const problem = await page.evaluate(() => {
      const e = document.activeElement;
      if (e === document.body) return "end";
      const before = window.lastStop;
      window.lastStop = e;
      if (before && !(before.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING)) return `${e.tagName} is out of order`;
      const ring = getComputedStyle(e).outlineStyle !== "none" || e.closest("svg") !== null;
      return e.checkVisibility() && ring ? "" : `${e.tagName}.${e.className} has the focus unseen`;
    });
    if (problem === "end") break;
    if (problem) fault(problem);
  }
}

// Cells of the page against the figures of `evaluate --json`.
async function checkNumbers(file, page, fault) {
  const beside = file.replace(/\.html$/, ".json");
  if (!existsSync(beside)) return;
  const { results } = JSON.parse(readFileSync(beside, "utf8"));
  const cells = (selector) => page.$$eval(
    `${selector} tbody tr`, (list) => list.map((row) => [...row.cells].map((c) => (c.dataset.v === undefined ? c.textContent : Number(c.dataset.v)))));
  const rows = (await cells("#models > .scroll")).sort();
  const wanted = results.map((r) => [
    r.model, r.accuracy.mean, r.balanced_error.mean, r.log_loss, r.brier, r.auc ?? "–", r.log_likelihood ?? "–",
    r.fit_seconds, r.predict_seconds,
  ]).sort();
  if (JSON.stringify(rows) !== JSON.stringify(wanted)) fault(`the table of models is not that of the JSON: ${JSON.stringify(rows)}`);
  for (const [k, r] of results.entries()) {
    const confusion = (await cells(`#confusion-${k}`)).map((row) => row.slice(1, -1));
    if (JSON.stringify(confusion) !== JSON.stringify(r.confusion)) fault(`the confusion matrix of ${r.model} is not that of the JSON`);
    const missing = (await cells("#missing")).filter((row) => row[0] === r.model).map((row) => row.slice(1, 3));
    if (JSON.stringify(missing) !== JSON.stringify(r.missing.map((p) => [p.rate, p.accuracy]))) {
      fault(`the missing-feature curve of ${r.model} is not that of the JSON`);
    }
  }
}

// On paper: black on white whatever the screen shows, all alternatives below each other, no controls.
async function checkPrint(page, fault) {
  await page.emulateMedia({ media: "print" });
  const problems = await page.evaluate(() => {
    const found = [];
    const shown = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility());
    if (getComputedStyle(document.body).backgroundColor !== "rgb(255, 255, 255)") found.push("the paper is not white");
    if (getComputedStyle(document.body).color !== "rgb(0, 0, 0)") found.push("the ink is not black");
    if (shown("nav, [role=tablist], .skip, .save, .filters").length > 0) found.push("controls are printed");
    if (shown(".tab").length !== document.querySelectorAll(".tab").length) found.push("a tab is not printed");
    if (shown(".tab h3").length !== document.querySelectorAll(".tab").length) found.push("a tab is printed without its name");
    return found;
  });
  problems.forEach((p) => fault(`printed: ${p}`));
  await page.setViewportSize({ width: 718, height: 1000 });
  const cut = await page.$$eval(".scroll > table", (list) => list.filter((t) => t.checkVisibility() && t.offsetWidth > t.parentElement.clientWidth + 1).map((t) => t.caption.textContent));
  cut.forEach((caption) => fault(`printed: the table “${caption}” is cut off`));
  (await page.evaluate(inspectPage, 718)).forEach((p) => fault(`printed: ${p}`));
  const pdf = await page.pdf({ format: "A4" });
  if (pdf.length < 10000) fault("the page does not print");
}
