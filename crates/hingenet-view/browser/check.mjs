// Opens pages in a real browser, at two widths, light and dark, and looks at them as a reader would.
// Usage: node check.mjs CHROMIUM PAGE.html... ; exit code 1 and a line for each thing that is wrong.
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
await browser.close();
faults.forEach((fault) => console.error(fault));
console.log(`${pages.length} pages looked at, ${faults.length} faults`);
process.exit(faults.length > 0 ? 1 : 0);

async function look(file, width, colorScheme) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  const url = pathToFileURL(path.resolve(file)).href;
  const fault = (text) => faults.push(`${path.basename(file)} at ${width} px, ${colorScheme}: ${text}`);
  page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") fault(`console: ${m.text()}`); });
  page.on("pageerror", (e) => fault(`script: ${e.message}`));
  page.on("dialog", (d) => { fault(`a dialog opened: ${d.message()}`); d.dismiss(); });
  page.on("request", (r) => { if (r.url().split("#")[0] !== url) fault(`asked for ${r.url()}`); });
  await page.goto(url);
  (await page.evaluate(inspectPage, width)).forEach(fault);
  if (!(await page.textContent("body")).includes(HOSTILE)) fault("the hostile name is not there as text");
  await checkTabs(page, fault, width);
  await checkSorting(page, fault);
  await checkNodes(page, fault);
  (await page.evaluate(inspectNetworks)).forEach(fault);
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
  for (const svg of [...document.querySelectorAll("figure svg.chart")].filter(visible)) {
    const id = svg.closest("figure").id;
    const box = svg.getBoundingClientRect();
    if (box.width < 200 || box.height < 25) found.push(`${id} is too small`);
    if (box.left < 0 || box.right > width + 1) found.push(`${id} leaves the page`);
    if (svg.querySelectorAll("path.line, path.mark, rect").length === 0) found.push(`${id} is empty`);
    for (const text of svg.querySelectorAll("text")) {
      const t = text.getBoundingClientRect();
      const inside = t.left >= box.left - 3 && t.right <= box.right + 3 && t.top >= box.top - 3 && t.bottom <= box.bottom + 3;
      if (!inside) found.push(`${id}: the label “${text.textContent}” is clipped`);
    }
    const ticks = [...svg.querySelectorAll("text.tick, text.row")].map((t) => [t.textContent, t.getBoundingClientRect()]);
    ticks.forEach(([a, p], i) => ticks.slice(0, i).forEach(([b, q]) => {
      const apart = p.right <= q.left || q.right <= p.left || p.bottom <= q.top + 4 || q.bottom <= p.top + 4;
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

async function checkSorting(page, fault) {
  for (const table of await page.$$("table.sortable")) {
    const rows = await table.$$("tbody tr");
    if (rows.length < 2) continue;
    const heads = await table.$$("thead button");
    for (let column = 0; column < heads.length; column++) {
      await heads[column].click();
      const values = await table.$$eval(
        "tbody tr", (list, k) => list.map((row) => row.cells[k].dataset.v).filter((v) => v !== undefined).map(Number), column);
      if (values.some((v, i) => i > 0 && v < values[i - 1])) fault(`column ${column} does not sort: ${values}`);
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
