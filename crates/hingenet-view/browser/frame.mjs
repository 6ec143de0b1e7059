// An explorer page in a frame without an origin, as Python shows it in a notebook: it answers, its links stay inside, and it
// cannot reach the notebook. Usage: node frame.mjs CHROMIUM PAGE.html ; exit code 1 and a line for each thing that is wrong.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { chromium } from "playwright-core";

const [executablePath, file] = process.argv.slice(2);
const faults = [];
const text = readFileSync(file, "utf8").replace("<head>", '<head><base href="about:srcdoc">');
const source = text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
const notebook = `<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,"><title>notebook</title>
<iframe sandbox="allow-scripts allow-downloads" width="100%" height="900" srcdoc="${source}"></iframe>`;
const server = createServer((_, response) => response.setHeader("Content-Type", "text/html").end(notebook)).listen(0, "127.0.0.1");
await once(server, "listening");

const browser = await chromium.launch({ executablePath, headless: true, args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
page.setDefaultTimeout(60000); // machines that test are busy
page.on("console", (m) => { if (m.type() === "error") faults.push(`console: ${m.text()}`); });
page.on("pageerror", (e) => faults.push(`script: ${e.message}`));
await page.goto(`http://127.0.0.1:${server.address().port}/`);
const frame = page.frames()[1];
const classes = () => frame.locator("#x-classes .numbers").textContent();
const answered = (k) => frame.waitForFunction((n) => document.getElementById("explorer-here").dataset.answered === n, String(k))
  .catch(() => faults.push(`question ${k} has no answer`));
await answered(1);
const before = await classes();
await frame.locator(".x-card").nth(1).locator(".x-state").first().click();
await answered(2);
if ((await classes()) === before) faults.push("a click moves nothing");
await frame.getByRole("button", { name: "Reset" }).click();
await answered(3);
if ((await classes()) !== before) faults.push("the click cannot be taken back");
await frame.locator("nav a").last().click();
if (!frame.url().startsWith("about:srcdoc#") || (await frame.locator("#explorer-here").count()) !== 1) faults.push(`a link left the page: ${frame.url()}`);
if (await frame.evaluate(() => { try { return Boolean(parent.document); } catch { return false; } })) faults.push("the page reaches the notebook");
await browser.close();
server.close();
faults.forEach((fault) => console.error(`in a frame: ${fault}`));
console.log(`1 page in a frame, ${faults.length} faults`);
process.exit(faults.length > 0 ? 1 : 0);
