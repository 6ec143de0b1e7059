// Opens every page of the built site from disk, as a telephone and as a desk see it, light and dark: nothing is wider than the
// window, nothing is asked of a server, no script fails, and the search finds something.
// node look.mjs CHROMIUM SITE
import { chromium } from "playwright-core";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [, , executablePath, site] = process.argv;
const pages = readdirSync(site, { recursive: true })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => name.endsWith(".html") && !name.startsWith("rust/") && name !== "404.html");
const problems = [];

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });

async function look(width, colorScheme, names, then) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  await context.route(/^https?:/, (route) => {
    problems.push(`${route.request().frame().url()} asks for ${route.request().url()}`);
    return route.abort();
  });
  const page = await context.newPage();
  page.on("pageerror", (error) => problems.push(`${page.url()}: ${error.message}`));
  for (const name of names) {
    await page.goto(pathToFileURL(join(site, name)).href);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > width) problems.push(`${name}: ${wide} px wide in a window of ${width} px`);
  }
  await then(page);
}

async function search(page) {
  await page.fill("input[name=query]", "prediction sets");
  const found = page.locator(".md-search-result__item").first().waitFor({ timeout: 30000 });
  await found.catch(() => problems.push("the search finds nothing"));
}

const ofEachKind = pages.filter((name) => !name.startsWith("reference/python/") || name.includes("HingenetClassifier"));
await Promise.all([look(360, "light", pages, () => {}), look(1280, "dark", ofEachKind, search)]);
await browser.close();

problems.forEach((problem) => console.error(problem));
console.log(`${pages.length} pages of the site: ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
