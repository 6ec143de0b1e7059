// The evaluator of the page against the engine of the program: cases that `cargo test --test explore_cases` wrote. Runs in
// Chromium (`node engine.mjs CHROMIUM FOLDER ENGINE`), or in Node itself while developing (`node engine.mjs - FOLDER ENGINE`).

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [browserPath, folder, engine] = process.argv.slice(2);

// Answers agree to 1e-9 of their size or of 1, whichever is larger: sums go in another order there.
const TOLERANCE = 1e-9;

/** Largest difference of two answers, and where; both shapes must be the same. Runs in the page. */
function compare(found, wanted, at = "") {
  if (wanted === null || found === null || typeof wanted !== "object") {
    if (typeof wanted === "number" && typeof found === "number") return [Math.abs(found - wanted) / Math.max(1, Math.abs(wanted)), at];
    return found === wanted ? [0, at] : [Infinity, `${at}: ${JSON.stringify(found)} is not ${JSON.stringify(wanted)}`];
  }
  let worst = [0, at];
  for (const key of new Set([...Object.keys(wanted), ...Object.keys(found)])) {
    const difference = compare(found[key] ?? null, wanted[key] ?? null, `${at}.${key}`);
    if (!(difference[0] <= worst[0])) worst = difference;
  }
  return worst;
}

/** All cases of one file. Runs in the page. */
async function check(localEngine, { program, cases }) {
  const model = localEngine(program);
  let worst = [0, ""];
  let slowest = 0;
  for (const [number, { known, about, reply, error }] of cases.entries()) {
    const start = performance.now();
    let found = null;
    try {
      found = await model.beliefs(known, about);
    } catch (e) {
      if (!error) return { worst: [Infinity, `case ${number}: ${e}`], slowest };
    }
    slowest = Math.max(slowest, performance.now() - start);
    const [answer] = await model.classes([known]);
    const same = found ? { classes: found.classes, logEvidence: found.logEvidence } : { classes: answer.classes, logEvidence: null };
    if (found && reply && !reply.columns) delete found.columns;
    if (error && found) return { worst: [Infinity, `case ${number}: an answer, not ${error}`], slowest };
    for (const difference of [error ? [0, ""] : compare(found, reply), compare(answer, same)]) {
      if (!(difference[0] <= worst[0])) worst = [difference[0], `case ${number}${difference[1]}`];
    }
  }
  return { worst, slowest };
}

let evaluate = async (cases) => check((await import(pathToFileURL(join(engine, "local.js")).href)).localEngine, cases);
let close = async () => {};
if (browserPath !== "-") {
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
  const page = await browser.newPage();
  // the modules from a host that does not exist: nothing is asked of a network
  await page.route("http://engine.test/**", (route) => {
    const name = new URL(route.request().url()).pathname.slice(1);
    return name === "" ? route.fulfill({ contentType: "text/html", body: "" }) : route.fulfill({ contentType: "text/javascript", body: readFileSync(join(engine, name), "utf8") });
  });
  await page.goto("http://engine.test/");
  await page.addScriptTag({ content: `${compare}\n${check}\nwindow.run = async (cases) => check((await import("./local.js")).localEngine, cases);` });
  evaluate = (cases) => page.evaluate((given) => window.run(given), cases);
  close = () => browser.close();
}
let failed = false;
for (const file of readdirSync(folder).filter((name) => name.endsWith(".json")).sort()) {
  const { worst, slowest } = await evaluate(JSON.parse(readFileSync(join(folder, file), "utf8")));
  const fails = !(worst[0] <= TOLERANCE);
  failed ||= fails;
  console.log(`${fails ? "FAIL" : "ok"} ${file}: largest difference ${worst[0].toExponential(1)} (${worst[1]}), slowest answer ${slowest.toFixed(1)} ms`);
}
await close();
process.exit(failed ? 1 : 0);
