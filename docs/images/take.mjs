// Takes pictures of parts of pages: node take.mjs CHROMIUM FOLDER_OF_PAGES FOLDER_FOR_PICTURES
import { pathToFileURL } from "node:url";
import path from "node:path";
import { chromium } from "playwright-core";

const [executablePath, from, to] = process.argv.slice(2);
const PICTURES = [
  // page, picture, what is on it (the smallest box around all of these), scale
  ["mixed.html", "report.png", ["header", "#accuracy svg", "#differences svg"], 0.8],
  ["mixed.html", "missing.png", ["#missing svg, #missing figcaption, #missing .legend", "#missing-parts-5 svg, #missing-parts-5 .legend"]],
  ["waveform.html", "trade-off.png", ["#trade-off-0 svg, #trade-off-0 figcaption"]],
  ["density.html", "terms.png", ["#curve-0 svg, #curve-0 figcaption, #curve-0 .legend", "#curve-1 svg"]],
  ["density.html", "pair.png", ["#map-0 svg, #map-0 figcaption"]],
];

const browser = await chromium.launch({ executablePath, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
for (const [page, picture, parts, deviceScaleFactor = 1] of PICTURES) {
  const viewport = { width: 1100, height: 900 };
  const tab = await browser.newPage({ viewport, deviceScaleFactor, colorScheme: "light" });
  await tab.goto(pathToFileURL(path.resolve(from, page)).href);
  const clip = await tab.evaluate((selectors) => {
    const boxes = selectors.flatMap((s) => [...document.querySelectorAll(s)].map((e) => e.getBoundingClientRect()));
    const x = Math.min(...boxes.map((b) => b.left)) - 8;
    const y = Math.min(...boxes.map((b) => b.top)) - 8;
    const right = Math.max(...boxes.map((b) => b.right)) + 8;
    const bottom = Math.max(...boxes.map((b) => b.bottom)) + 1;
    return { x: Math.max(0, x), y: Math.max(0, y), width: right - x, height: bottom - y };
  }, parts);
  await tab.screenshot({ path: path.resolve(to, picture), fullPage: true, clip });
  await tab.close();
}
await browser.close();
