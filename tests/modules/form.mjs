// Works on the annotation form as a person does, in a real browser, and prints what the page says after each step.
// Arguments: the address of the page, the browser, a folder for screenshots (or nothing).
import { chromium } from "playwright-core";

const [address, executablePath, screenshots] = process.argv.slice(2);
const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath, args });
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const said = [];
page.on("pageerror", (error) => said.push(String(error)));
page.on("console", (message) => message.type() === "error" && said.push(message.text()));
await page.goto(address);

const text = page.locator("#text");
const rows = page.locator(".entities > li");
const read = (problems) => problems.map((each) => {
  const [ruleId, code] = each.querySelector("code").textContent.split(" ");
  return { message: each.firstChild.textContent.trim(), ruleId, code };
});
const readAll = (locator) => locator.evaluateAll((problems, source) => (0, eval)(source)(problems), `(${read})`);

/** All that the page shows. */
async function state() {
  const entities = [];
  for (const row of await rows.all()) {
    entities.push({
      text: await row.locator(".surface").textContent(),
      label: await row.locator("select").inputValue(),
      start: await row.locator("[name=start]").inputValue(),
      end: await row.locator("[name=end]").inputValue(),
      problems: await readAll(row.locator(".problems li")),
    });
  }
  return {
    text: await text.inputValue(),
    entities,
    marked: await page.locator(".preview mark").allTextContents(),
    problems: await readAll(page.locator("main > .problems li")),
    status: await page.locator(".status").textContent(),
    saves: await page.locator(".save").isEnabled(),
  };
}

/** Selects a stretch, as with the mouse, and presses the button of a label. */
async function mark(words, label) {
  await text.evaluate((area, words) => {
    const start = area.value.indexOf(words);
    area.focus();
    area.setSelectionRange(start, start + words.length);
  }, words);
  await page.locator(`[data-label=${label}]`).click();
}

const steps = {};
const written = "\u{1F469}\u{1F3FD}\u200D\u{1F680} Ada Lovelace met A\u030Angstro\u0308m at the University of Oxford. ";
await text.fill(written);
await mark("Ada Lovelace", "PERSON");
await mark("A\u030Angstro\u0308m", "PERSON");
await mark("University of Oxford", "ORGANIZATION");
await mark("Oxford", "LOCATION");
steps.marked = await state();
if (screenshots) await page.screenshot({ path: `${screenshots}/annotation-form.png`, fullPage: true });

// A start behind its end, no text at all, white space at an edge, an end inside of a combined letter, a span that crosses.
await rows.nth(0).locator("[name=start]").fill("20");
steps.order = await state();
await rows.nth(0).locator("[name=start]").fill("5");
await rows.nth(0).locator("[name=end]").fill("5");
steps.empty = await state();
await rows.nth(0).locator("[name=end]").fill("18");
steps.edge = await state();
await rows.nth(0).locator("[name=end]").fill("23");
steps.lost = await state();
await rows.nth(0).locator("[name=end]").fill("17");
await rows.nth(3).locator("[name=start]").fill("36");
await rows.nth(3).locator("[name=end]").fill("50");
steps.overlap = await state();
await rows.nth(0).locator("[name=end]").fill("5");
if (screenshots) {
  await page.screenshot({ path: `${screenshots}/annotation-form-problems.png`, fullPage: true });
  await page.setViewportSize({ width: 400, height: 800 });
  await page.screenshot({ path: `${screenshots}/annotation-form-400.png`, fullPage: true });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: `${screenshots}/annotation-form-400-dark.png`, fullPage: true });
  await page.emulateMedia({ colorScheme: "light" });
}
steps.narrow = await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);
await page.setViewportSize({ width: 1280, height: 900 });

// Somebody types in front of the marks, and inside of one.
await rows.nth(3).locator(".remove").click();
await rows.nth(0).locator("[name=end]").fill("17");
await text.evaluate((area) => area.setSelectionRange(0, 0));
await text.press("Home");
await text.pressSequentially("\u{1F600}\u{1F600} ");
steps.typed = await state();
await page.locator(".save").click();
await page.waitForFunction(() => document.querySelector(".status").textContent === "Saved.");
steps.saved = await state();

// A text that the contract refuses, and a server that is gone.
await text.fill("a\uFFFDb");
steps.refused = await state();
await text.fill("Ada");
await mark("Ada", "PERSON");
await page.route("**/samples", (route) => route.abort());
await page.locator(".save").click();
await page.waitForFunction(() => document.querySelector(".status").textContent.startsWith("Not saved"));
steps.offline = await state();

await browser.close();
process.stdout.write(JSON.stringify({ steps, said }));
