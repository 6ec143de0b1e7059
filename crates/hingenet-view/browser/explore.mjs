// Uses explorer pages as a person would, with mouse and keyboard, and compares what they show with what the program answers.
// Usage: node explore.mjs CHROMIUM PROGRAM FOLDER ; FOLDER holds MODEL.hgn and MODEL.html pairs and the rows of them as
// rows.csv; `hingenet explore` pages are started here. Exit code 1 and a line for each thing that is wrong.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, program, folder] = process.argv.slice(2);
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
/** Of a probability that a page shows with four digits. */
const ROUNDED = 5e-4;
const faults = [];
const browser = await chromium.launch({ executablePath, headless: true, args: FLAGS });
const shots = process.env.SHOTS;
if (shots) mkdirSync(shots, { recursive: true });
const models = readdirSync(folder).filter((f) => f.endsWith(".hgn")).map((f) => f.slice(0, -4));
for (const model of models) {
  const file = path.join(folder, `${model}.html`);
  // narrow and dark for states and for numbers; the rest of the page is the same
  for (const [width, colorScheme] of [[1280, "light"], [360, "dark"]].slice(0, model === "tan" || model === "sgbn" ? 2 : 1)) {
    await use(model, pathToFileURL(file).href, width, colorScheme);
  }
}
// the same page served by the program, for a model that has it in a file and for one that has not
for (const model of ["tan", "served/pool"]) {
  const server = spawn(program, ["explore", path.join(folder, `${model}.hgn`), path.join(folder, "rows.csv"), "--no-open", "--quiet"]);
  const url = String(await once(server.stdout, "data")).trim();
  await use(model, url, 1280, "light");
  server.kill("SIGTERM");
}
await browser.close();
faults.forEach((fault) => console.error(fault));
console.log(`${models.length + 1} explorers used, ${faults.length} faults`);
process.exit(faults.length > 0 ? 1 : 0);

async function use(model, url, width, colorScheme) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, acceptDownloads: true });
  const page = await context.newPage();
  page.setDefaultTimeout(120000);
  const fault = (text) => faults.push(`${model} at ${width} px, ${colorScheme}, ${url.slice(0, 4)}: ${text}`);
  const watch = (p) => {
    p.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") fault(`console: ${m.text()}`); });
    p.on("pageerror", (e) => fault(`script: ${e.message}`));
    p.on("dialog", (d) => { fault(`a dialog opened: ${d.message()}`); d.dismiss(); });
  };
  watch(page);
  await page.goto(url);
  const given = await page.evaluate(() => JSON.parse(document.getElementById("explorer-given").textContent));
  const ask = (known) => query(model, given, known);
  await settled(page);
  await compare(page, ask([]), fault, "nothing known");

  // three values and one that is excluded
  const columns = given.facts.columns;
  const telling = columns.map((c, k) => [c, k]).filter(([c, k]) => k > 0 && c.states && c.states.length > 2);
  const known = [];
  for (const [, k] of telling.slice(0, 3)) {
    await state(page, k, 1).click();
    known.push([k, 1, true]);
    await settled(page);
    await compare(page, ask(known), fault, `${known.length} known`);
  }
  if (given.facts.tells_columns && telling.length > 3) {
    const [, k] = telling[3];
    await state(page, k, 0).click({ modifiers: ["Shift"] });
    await settled(page);
    await compare(page, ask([...known, [k, 0, false]]), fault, "one excluded");
    await page.getByRole("button", { name: "Undo" }).click();
    await settled(page);
  }
  await compare(page, ask(known), fault, "after undo");

  // a number
  const number = columns.findIndex((c, k) => k > 0 && !c.states);
  if (number > 0) {
    await page.getByLabel("Find a column").fill(columns[number].name);
    await page.keyboard.press("Enter");
    await page.locator("#x-number").fill("1.5");
    await page.keyboard.press("Enter");
    await settled(page);
    known.push([number, 1.5, true]);
    await compare(page, ask(known), fault, "a number");
  }

  // what is shown adds up
  await explained(page);
  const reasons = await numbers(page, "#x-reasons");
  const total = reasons.at(-1)[1];
  const sum = reasons.slice(0, -1).reduce((s, [, v]) => s + v, 0);
  if (!(Math.abs(sum - total) < 0.01 * (1 + Math.abs(total)))) fault(`reasons add up to ${sum}, not ${total}`);
  if ((await page.locator(".x-turn").textContent()).length < 20) fault("nothing is said about what would turn it");

  // the link restores everything
  const link = page.url();
  const other = await context.newPage();
  other.setDefaultTimeout(120000);
  watch(other);
  await other.goto(link);
  await settled(other);
  await compare(other, ask(known), fault, "the link");
  if (shots) await other.screenshot({ path: path.join(shots, `${model.replace("/", "-")}-${width}-${colorScheme}-${url.slice(0, 4)}.png`) });
  await other.close();

  // without a mouse: Tab reaches a state, Space sets it, arrows move, Space with Shift excludes
  await page.getByRole("button", { name: "Reset" }).click();
  await settled(page);
  await page.locator(".x-net").focus();
  const wanted = telling[0][1];
  for (let k = 0; k < 300; k++) {
    await page.keyboard.press("Tab");
    const name = await page.evaluate(() => document.activeElement.closest(".x-card")?.getAttribute("aria-label") + "/" + document.activeElement.classList.contains("x-state"));
    if (name === `${columns[wanted].name}/true`) break;
  }
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Space");
  await settled(page);
  await compare(page, ask([[wanted, 1, true]]), fault, "by keyboard");
  await page.keyboard.press("Space");
  await settled(page);
  if (given.facts.tells_columns) {
    await page.keyboard.press("Shift+Space");
    await settled(page);
    await compare(page, ask([[wanted, 1, false]]), fault, "excluded by keyboard");
    await page.keyboard.press("Control+z");
    await settled(page);
  }
  await compare(page, ask([]), fault, "everything taken back");

  // rows of a file that the user opens, twice in a row: the rows that came with the page, and those of the first time, may
  // still be on their way
  await page.getByRole("tab", { name: "Rows" }).click();
  for (const file of [[path.join(folder, "rows.csv")], [], [path.join(folder, "rows.csv")]]) await page.locator("#x-tab-rows input[type=file]").setInputFiles(file);
  await page.getByText("rows read").waitFor();
  const rows = await page.locator("#x-tab-rows tbody tr").allTextContents();
  if (rows.length !== 15) fault(`${rows.length} rows are shown`);
  const told = predictions(model, given).slice(0, 15);
  const shown = await page.locator("#x-tab-rows tbody tr").evaluateAll((lines) => lines.map((l) => Array.from(l.cells, (c) => c.textContent)));
  shown.forEach((cells, k) => {
    const answer = cells[2].replace("✗ ", "");
    if (answer !== told[k].answer || Math.abs(percent(cells[3]) - told[k].p) > 6e-4) fault(`row ${k + 1}: ${cells.join(" ")} instead of ${told[k].answer} ${told[k].p}`);
  });
  await page.getByRole("button", { name: "Look at row 2", exact: true }).click();
  await settled(page);
  const classes = await numbers(page, "#x-classes");
  const best = classes.reduce((a, b) => (b[1] > a[1] ? b : a));
  if (best[0] !== told[1].answer || Math.abs(best[1] - told[1].p) > ROUNDED) fault(`row 2 is ${best.join(" ")} instead of ${told[1].answer} ${told[1].p}`);
  // reasons are those of `explain`
  await explained(page);
  const why = (await numbers(page, "#x-reasons")).slice(1, -1).map(([, value]) => value);
  const right = explanation(model, 2).values.map((v) => v.value);
  const apart = right.length === why.length ? Math.max(...right.map((v, k) => Math.abs(v - why[k]) - 6e-4 * Math.abs(v))) : Infinity;
  if (!(apart < 1e-5)) fault(`the reasons are ${why.join(" ")}, explain says ${right.join(" ")}`);
  for (const order of ["error", "margin", "surprise"]) await page.locator("#x-tab-rows select").selectOption(order);

  // every figure can be saved, names stay text, nothing leaves the page
  for (const tab of await page.locator(".x-side [role=tab]").all()) {
    await tab.click();
    const wide = await page.evaluate(() => document.scrollingElement.scrollWidth);
    if (wide > width + 1) fault(`${await tab.textContent()}: the page is ${wide} px wide`);
    if ((await page.locator("#explorer :is(i, img, script:not([type]))").count()) > 0) fault("a name became markup");
  }
  if (width === 1280) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: /^Save .* as SVG$/ }).first().click()]);
    if (!download.suggestedFilename().endsWith(".svg")) fault("the picture is not saved");
  }
  await context.close();
}

/** The state of a column on its card. */
function state(page, column, at) {
  return page.locator(".x-card").nth(column).locator(".x-state").nth(at);
}

/** Waits until the last question is answered. */
async function settled(page) {
  await page.waitForTimeout(80);
  await page.waitForFunction(() => {
    const here = document.getElementById("explorer-here").dataset;
    return here.asked !== undefined && here.asked === here.answered;
  });
}

/** Waits until the reasons are told, too. */
function explained(page) {
  return page.waitForFunction(() => {
    const here = document.getElementById("explorer-here").dataset;
    return here.explained === here.asked;
  });
}

/** The numbers of a figure: name and first number of each line. */
function numbers(page, figure) {
  return page.locator(`${figure} .numbers tbody tr`).evaluateAll((lines) => lines.map((line) => [line.cells[0].textContent, Number(line.cells[1].textContent.replaceAll("−", "-"))]));
}

async function compare(page, answer, fault, when) {
  const shown = await numbers(page, "#x-classes");
  for (const [name, p] of shown) {
    const right = answer[name];
    if (!(Math.abs(p - right) <= ROUNDED * Math.max(1, right))) fault(`${when}: P(${name}) is shown as ${p}, the program says ${right}`);
  }
}

function percent(text) {
  if (text.startsWith("<")) return 0;
  if (text.startsWith(">")) return 1;
  return Number(text.replace(" %", "")) / 100;
}

/** What the program answers about the class. */
function query(model, given, known) {
  const { columns, target } = given.facts;
  const value = ([k, at]) => (columns[k].states ? columns[k].states[at] : String(at));
  const options = known.flatMap((k) => [k[2] ? "--given" : "--not", `${columns[k[0]].name}=${value(k)}`]);
  const text = execFileSync(program, ["--quiet", "query", path.join(folder, `${model}.hgn`), ...options, "--target", target, "--json", "-"], { encoding: "utf8" });
  return JSON.parse(text).posterior[target];
}

/** What `explain` says about a row of the file. */
function explanation(model, row) {
  const text = execFileSync(program, ["--quiet", "explain", path.join(folder, `${model}.hgn`), path.join(folder, "rows.csv"), "--row", String(row), "--format", "json"], { encoding: "utf8" });
  return JSON.parse(text);
}

/** What it predicts for the rows of the file. */
function predictions(model, given) {
  const text = execFileSync(program, ["--quiet", "predict", path.join(folder, `${model}.hgn`), path.join(folder, "rows.csv"), "--proba"], { encoding: "utf8" });
  const [head, ...lines] = text.trim().split("\n").map((line) => line.split(","));
  const names = given.facts.columns[0].states;
  return lines.map((cells) => {
    const p = cells.slice(head.length - names.length).map(Number);
    const best = p.indexOf(Math.max(...p));
    return { answer: names[best], p: p[best] };
  });
}
