// The explorer in Chromium: time from a click to the frame in which every bar has its new length, and the size of a page.
// Usage: node benchmarks/explorer.mjs [PROGRAM] [TOOLS] ; TOOLS is where crates/hingenet-view/browser/run puts its packages.
// Promised: 100 ms for a TAN of 200 nodes in a file, and for the pool on 5000 x 21 over the local server; 400 kB for a TAN of 30 nodes.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const root = path.resolve(import.meta.dirname, "..");
const [program = path.join(root, "target/release/hingenet"), tools = path.join(root, ".tools/browser")] = process.argv.slice(2);
const { chromium } = createRequire(path.join(path.resolve(tools), "package.json"))("playwright-core");
const executablePath = execFileSync("which", ["chromium"], { encoding: "utf8" }).trim();
const FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"];
/** Clicks that are timed; one before them warms up. */
const CLICKS = 12;

const work = mkdtempSync(path.join(tmpdir(), "hingenet-explorer-"));
const file = (name) => path.join(work, name);
const hingenet = (...words) => execFileSync(program, ["--quiet", ...words], { stdio: ["ignore", "pipe", "ignore"] });
const browser = await chromium.launch({ executablePath, headless: true, args: FLAGS });
try {
  networkTable(file("wide.csv"), 199, 2000);
  hingenet("fit", file("wide.csv"), "--target", "class", "--model", "tan:ml", "-o", file("wide.hgn"));
  hingenet("inspect", file("wide.hgn"), "--format", "html", "-o", file("wide.html"));
  report("TAN of 200 nodes in a file", await measure(pathToFileURL(file("wide.html")).href));

  hingenet("generate", "waveform", "-n", "5000", "-o", file("wave.csv"));
  hingenet("fit", file("wave.csv"), "--target", "class", "-o", file("pool.hgn"));
  const server = spawn(program, ["explore", file("pool.hgn"), "--no-open", "--quiet"]);
  const url = String(await once(server.stdout, "data")).trim();
  report("pool on 5000 x 21 over the local server", await measure(url));
  server.kill("SIGTERM");

  networkTable(file("thirty.csv"), 29, 2000);
  hingenet("fit", file("thirty.csv"), "--target", "class", "--model", "tan:ml", "-o", file("thirty.hgn"));
  hingenet("inspect", file("thirty.hgn"), "--format", "html", "-o", file("thirty.html"));
  console.log(`page of a TAN of 30 nodes: ${(statSync(file("thirty.html")).size / 1000).toFixed(0)} kB`);
} finally {
  await browser.close();
  rmSync(work, { recursive: true });
}

/** Categories of 2 to 5 states; each column follows the class and the column before it. */
function networkTable(name, columns, rows) {
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const lines = [[...Array.from({ length: columns }, (_, j) => `x${j}`), "class"].join(",")];
  for (let m = 0; m < rows; m++) {
    const c = Math.floor(3 * random());
    let last = c;
    const cells = Array.from({ length: columns }, (_, j) => {
      const states = 2 + (j % 4);
      last = random() < 0.6 ? (last + c + j) % states : Math.floor(states * random());
      return `s${last}`;
    });
    lines.push([...cells, `c${c}`].join(","));
  }
  writeFileSync(name, lines.join("\n") + "\n");
}

/** Milliseconds from each of some clicks to the end of the frame that shows its answer. */
async function measure(url) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce" });
  page.setDefaultTimeout(120000);
  await page.goto(url);
  await atRest(page);
  const columns = await page.evaluate(watchClicks);
  for (let k = 0; k <= CLICKS; k++) {
    const { name, states, range } = columns[(1 + 16 * k) % columns.length];
    await page.getByLabel("Find a column").fill(name);
    await page.keyboard.press("Enter");
    await atRest(page);
    if (states) {
      await page.locator(`.x-card[aria-label="${name}"] .x-state`).nth(1).click();
    } else {
      await page.locator("#x-number").fill(String((0.7 * range[0] + 0.3 * range[1]).toFixed(2)));
      await page.keyboard.press("Enter");
    }
    await page.waitForFunction((n) => window.times.length > n, k);
    await atRest(page);
  }
  const times = await page.evaluate(() => window.times);
  await page.close();
  return times.slice(1).sort((a, b) => a - b);
}

/** Waits until bars and reasons are those of the last question. */
function atRest(page) {
  return page.waitForFunction(() => {
    const here = document.getElementById("explorer-here").dataset;
    return here.asked !== undefined && here.asked === here.explained;
  });
}

/** Runs in the page: its columns without the class; from now on `times` grows by every answer that is shown. */
function watchClicks() {
  const here = document.getElementById("explorer-here");
  let began = 0;
  window.times = [];
  for (const kind of ["click", "keydown"]) addEventListener(kind, (event) => { began = event.timeStamp; }, true);
  // a task after the next frame: the frame has been painted
  const shown = () => requestAnimationFrame(() => setTimeout(() => window.times.push(performance.now() - began)));
  new MutationObserver(shown).observe(here, { attributes: true, attributeFilter: ["data-answered"] });
  return JSON.parse(document.getElementById("explorer-given").textContent).facts.columns.slice(1);
}

function report(what, times) {
  const at = (share) => times[Math.floor(share * (times.length - 1))].toFixed(0);
  console.log(`${what}: click to bars, median ${at(0.5)} ms, slowest ${at(1)} ms of ${times.length}`);
}
