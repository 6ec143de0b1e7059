// Films the explorer: node film.mjs CHROMIUM PAGE.html PICTURE.png. The steps of a user become the frames of an animated PNG,
// which browsers show as they show any picture.
import { writeFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { pathToFileURL } from "node:url";
import path from "node:path";
import { chromium } from "playwright-core";

const [executablePath, from, to] = process.argv.slice(2);
const WIDTH = 1000;
/** Milliseconds that a frame stays. */
const STAY = 1600;

const state = (page, column, k) => page.locator(`.x-card[aria-label="${column}"] .x-state`).nth(k);
const tab = (page, name) => page.getByRole("tab", { name });
const STEPS = [
  async () => {},
  (page) => state(page, "vibration", 2).click(),
  (page) => state(page, "oil", 2).click(),
  (page) => state(page, "site", 0).click({ modifiers: ["Shift"] }),
  (page) => tab(page, "Measure next").click(),
  (page) => state(page, "pressure", 0).click(),
  (page) => tab(page, "What moved").click(),
  (page) => tab(page, "Classes").click(),
];

const browser = await chromium.launch({ executablePath, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1380, height: 800 }, deviceScaleFactor: WIDTH / 1380, colorScheme: "light" });
await page.goto(pathToFileURL(path.resolve(from)).href);
await page.locator(".x-card").first().waitFor();
await page.evaluate(() => document.getElementById("explorer").scrollIntoView());
const frames = [];
for (const step of STEPS) {
  await step(page);
  await page.mouse.move(5, 5);
  await page.waitForTimeout(900);
  frames.push(await page.screenshot());
}
await browser.close();
writeFileSync(to, animated(frames.map(chunks)));

/** The parts of a PNG: [name, bytes]. */
function chunks(png) {
  const found = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    found.push([png.toString("latin1", at + 4, at + 8), png.subarray(at + 8, at + 8 + length)]);
    at += 12 + length;
  }
  return found;
}

/** Pictures of one size as the frames of one animated PNG: head, number of frames, and each frame before its data. */
function animated(pictures) {
  const data = (picture) => Buffer.concat(picture.filter(([name]) => name === "IDAT").map(([, bytes]) => bytes));
  const head = pictures[0].find(([name]) => name === "IHDR")[1];
  const numbers = (...list) => { const b = Buffer.alloc(4 * list.length); list.forEach((n, k) => b.writeUInt32BE(n, 4 * k)); return b; };
  const parts = [["IHDR", head], ["acTL", numbers(pictures.length, 0)]];
  let sequence = 0;
  pictures.forEach((picture, k) => {
    const wait = Buffer.from([STAY >> 8, STAY & 255, 1000 >> 8, 1000 & 255, 0, 0]);
    parts.push(["fcTL", Buffer.concat([numbers(sequence++, head.readUInt32BE(0), head.readUInt32BE(4), 0, 0), wait])]);
    parts.push(k === 0 ? ["IDAT", data(picture)] : ["fdAT", Buffer.concat([numbers(sequence++), data(picture)])]);
  });
  parts.push(["IEND", Buffer.alloc(0)]);
  const written = parts.map(([name, bytes]) => {
    const body = Buffer.concat([Buffer.from(name, "latin1"), bytes]);
    return Buffer.concat([numbers(bytes.length), body, numbers(crc32(body))]);
  });
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), ...written]);
}
