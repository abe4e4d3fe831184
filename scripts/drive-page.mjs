// Drives a report in headless Chromium as a reader does, and fails where it cannot be read or used.
//
//     node scripts/drive-page.mjs MODULES PAGE    MODULES holds puppeteer-core and axe-core
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, page] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { default: puppeteer } = await import(pathToFileURL(require.resolve("puppeteer-core")));
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const folder = pathToFileURL(page).href.replace(/[^/]*$/, "");
const faults = [];
const expect = (holds, what) => holds || faults.push(what);

const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
const open = async (file, width, height) => {
  const tab = await browser.newPage();
  tab.on("console", (message) => faults.push(`${file} writes to the console: ${message.text()}`));
  tab.on("request", (request) => expect(request.url().startsWith(folder), `${file} requests ${request.url()}`));
  await tab.setViewport({ width, height });
  await tab.goto(folder + file);
  return tab;
};

// The share of a picture that its largest empty rectangle takes, on a grid of cells. Grid lines, frames and white do not count.
const emptiness = (svg) => {
  const cells = 30;
  const { width, height } = svg.viewBox.baseVal;
  const full = Array.from({ length: cells }, () => Array(cells).fill(false));
  const at = (place, whole) => Math.min(cells - 1, Math.max(0, Math.floor((place / whole) * cells)));
  const fill = (left, top, right, bottom) => {
    for (let row = at(top, height); row <= at(bottom, height); row++) full[row].fill(true, at(left, width), at(right, width) + 1);
  };
  for (const mark of svg.querySelectorAll("line, polyline, polygon, path, rect, circle, text")) {
    const [fillColour, stroke] = ["fill", "stroke"].map((name) => (mark.getAttribute(name) ?? "").toUpperCase());
    if (["#DDDDDD", "#595959"].includes(stroke) || (mark.tagName === "rect" && fillColour === "#FFFFFF")) continue;
    const points = [...(mark.tagName === "polyline" ? mark.points : [])];
    points.slice(1).forEach((point, before) => {
      const other = points[before];
      fill(Math.min(point.x, other.x), Math.min(point.y, other.y), Math.max(point.x, other.x), Math.max(point.y, other.y));
    });
    const box = mark.getBBox();
    if (points.length === 0) fill(box.x, box.y, box.x + box.width, box.y + box.height);
  }
  let largest = 0;
  for (let top = 0; top < cells; top++) {
    const column = Array(cells).fill(false);
    for (let bottom = top; bottom < cells; bottom++) {
      let [run, widest] = [0, 0];
      full[bottom].forEach((isFull, place) => {
        column[place] ||= isFull;
        run = column[place] ? 0 : run + 1;
        widest = Math.max(widest, run);
      });
      largest = Math.max(largest, widest * (bottom - top + 1));
    }
  }
  return largest / cells ** 2;
};

// A page of each kind: the report's, a strategy's conversations, what it lost of one, and that one's messages.
const [first] = await (async () => {
  const tab = await open("index.html", 1440, 900);
  const links = await tab.$$eval('table.sorts a[href^="cases/"]', (all) => all.map((link) => link.getAttribute("href")));
  await tab.close();
  return links;
})();
expect(first, "no table leads to the conversations of a strategy");
const pages = ["index.html", "details.html"];
if (first) {
  const tab = await open(first, 1440, 900);
  const conversation = await tab.$eval("table.sorts a", (link) => link.getAttribute("href"));
  await tab.close();
  pages.push(first, first.replace(/[^/]*$/, conversation), `cases/conversations/${conversation}`);
}

for (const file of pages) {
  for (const [width, height] of [[1440, 900], [800, 900], [390, 844]]) {
    const tab = await open(file, width, height);
    const screens = await tab.evaluate(() => document.documentElement.scrollHeight / innerHeight);
    await tab.$$eval("details", (all) => all.forEach((folded) => (folded.open = true)));
    const { overflow, clipped, groups, deaf, smallest } = await tab.evaluate(() => ({
      overflow: document.documentElement.scrollWidth - innerWidth,
      // The grid of facts scrolls beside its names.
      clipped: [...document.querySelectorAll(".scroll:not(:has(.grid))")].filter((region) => region.scrollWidth > region.clientWidth + 1).length,
      groups: Math.max(1, document.querySelectorAll("h2[id]").length),
      // Letters of pictures, in pixels of the screen.
      smallest: Math.min(...[...document.querySelectorAll("figure svg")].filter((svg) => svg.checkVisibility()).flatMap((svg) => {
        const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        return [...svg.querySelectorAll("text")].map((text) => parseFloat(getComputedStyle(text).fontSize) * scale);
      })),
      deaf: [...document.querySelectorAll(".scroll, .plot")].filter((region) => region.tabIndex !== 0).length,
    }));
    expect(overflow <= 0, `${file} is wider than ${width} pixels by ${overflow}`);
    expect(width > 390 || smallest === null || smallest >= 11, `${file}: letters of ${smallest?.toFixed(1)} pixels in a picture at ${width}`);
    expect(deaf === 0, `${file}: ${deaf} tables cannot be scrolled by keyboard`);
    expect(clipped === 0, `${file}: ${clipped} tables are clipped at ${width} pixels`);
    expect(file !== "index.html" || width < 1440 || screens <= 10 * groups, `${file} has ${screens.toFixed(1)} screens for ${groups} groups`);
    await tab.close();
  }
  const tab = await browser.newPage();
  // The page's own policy would stop the checker.
  await tab.setBypassCSP(true);
  await tab.goto(folder + file);
  await tab.evaluate(axe);
  const { violations } = await tab.evaluate(() => axe.run());
  for (const { impact, id, nodes } of violations.filter(({ impact }) => ["serious", "critical"].includes(impact))) {
    faults.push(`${file}: ${impact}: ${id} (${nodes.length}): ${nodes[0].html.slice(0, 120)}`);
  }
  await tab.close();
}

const tab = await open("index.html", 1440, 900);
const pictures = await tab.evaluate(`[...document.querySelectorAll("figure")].map((one) => [one.id, (${emptiness})(one.querySelector("svg"))])`);
// A run of one or two rows has little to draw; with FILLED set, the pictures of a whole run must use their room.
for (const [name, share] of pictures) expect(!process.env.FILLED || share < 1 / 3, `the picture ${name} is empty in ${(100 * share).toFixed(0)} % of it`);
expect(pictures.length > 0, "the page has no picture");
expect(!["owned", "1"].includes(await tab.title()), "text of the suite ran as a script");
const names = () => tab.$$eval("table.sorts:first-of-type", ([table]) => [...table.querySelectorAll("tr:not([hidden]) th[scope=row]")].map((name) => name.textContent));
const before = await names();
// By keyboard alone: to the header of a column, then Enter.
await tab.focus("table.sorts th:nth-child(5) button");
await tab.keyboard.press("Enter");
const column = await tab.$eval("table.sorts", (table) => [...table.querySelectorAll("tr td:nth-child(5)")].map((cell) => parseFloat(cell.textContent)));
expect(column.every((value, at) => at === 0 || !(value > column[at - 1])), `Enter on a header does not sort: ${column}`);
expect((await tab.$eval("table.sorts th[aria-sort]", (header) => header.getAttribute("aria-sort"))) === "descending", "the sorted column is not announced");
await tab.focus(".filter input");
await tab.keyboard.type(before[0].slice(0, 5));
const shown = await names();
expect(shown.length > 0 && (before.length === 1 || shown.length < before.length) && shown.every((name) => name.includes(before[0].slice(0, 5))), `the filter shows ${shown}`);
const targets = await tab.$$eval('a[href^="#"]', (links) => links.map((link) => link.hash).filter((hash) => !document.getElementById(hash.slice(1))));
expect(targets.length === 0, `links lead nowhere: ${targets}`);
// A link to a folded table opens it.
const folded = await tab.$$eval("details summary[id]", (all) => all.map((one) => one.id).find((id) => document.querySelector(`nav a[href="#${id}"]`)));
await tab.click(`nav a[href="#${folded}"]`);
await tab.waitForFunction((id) => location.hash === `#${id}`, { timeout: 5000 }, folded).catch(() => {});
await new Promise((done) => setTimeout(done, 300));
const summary = await tab.$eval(`#${folded}`, (one) => ({ top: one.getBoundingClientRect().top, open: one.parentElement.open }));
expect(summary.top > -5 && summary.top < 900, `the link to ${folded} does not show it, at ${summary.top}`);
await tab.focus(`#${folded}`);
if (!summary.open) await tab.keyboard.press("Enter");
expect(await tab.$eval(`#${folded}`, (one) => one.parentElement.open), `Enter does not open ${folded}`);
await tab.close();

// Three clicks from the report to what became of a fact, one more to the message that said it, and back.
if (first) {
  const tab = await open("index.html", 1440, 900);
  const click = (link) => Promise.all([tab.waitForNavigation({ timeout: 5000 }).catch(() => {}), tab.click(link)]);
  await click('table.sorts th a[href^="cases/"]');
  await click("table.sorts th a");
  const lost = await tab.$$eval('a[href*="#fact-"]', (all) => all.map((link) => [link.getAttribute("href"), link.textContent])).then(([one]) => one);
  if (lost) {
    await click(`a[href="${lost[0]}"]`);
    const fact = await tab.$eval(":target", (row) => ({ top: row.getBoundingClientRect().top, text: row.textContent }));
    expect(fact.top > -5 && fact.top < 900 && fact.text.includes(lost[1]), `the third click does not show the fact: ${fact.text}`);
    await tab.goBack();
  } else {
    expect(await tab.$eval("main", (all) => all.textContent.includes("No fact")), "a conversation shows neither lost facts nor that there are none");
  }
  const message = await tab.$$eval('a[href*="#m"]', (all) => all.find((link) => link.checkVisibility())?.getAttribute("href"));
  if (message) {
    await click(`a[href="${message}"]`);
    expect(await tab.$eval(":target", (said) => said.getBoundingClientRect().top < 900), "the link to a message does not show it");
    await tab.goBack();
  }
  await click("nav a:last-of-type");
  await click("nav a");
  expect(tab.url() === `${folder}index.html`, `the way back ends at ${tab.url()}`);
}
await browser.close();

for (const fault of faults) console.error(fault);
if (faults.length === 0) console.log("the page can be read, sorted, filtered and used by keyboard");
process.exit(faults.length ? 1 : 0);
