// Calls the TypeScript runtime's normalizers and relations as the emitter binds them: jobs come as JSON on standard input,
// results leave as JSON on standard output. The first argument is the folder of the compiled runtime.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(folder, `${path}.js`)).href);

const revive = (_, value) => (typeof value?.$big === "string" ? BigInt(value.$big) : value);
const told = (_, value) => {
  if (typeof value === "bigint") return { $big: String(value) };
  if (value?.refused === true) return { refused: [value.ruleId, value.message, value.index ?? null] };
  return value;
};

const { movedSpans } = await load("relations/spans");

/** What a text became, and where spans of it went. */
function traced(normalizer, [value, unit, starts, ends, surfaces]) {
  const result = normalizer(value);
  if (result === undefined) return { same: true };
  if (result.refused) return result;
  return { text: result.text, moved: movedSpans(unit, value, result, starts, ends, surfaces ?? undefined) };
}

const results = [];
for (const { code, uses, kind, calls } of JSON.parse(readFileSync(0, "utf8"), revive)) {
  const values = await Promise.all(uses.map(async ([path, name]) => (await load(path))[name]));
  const bound = new Function(...uses.map(([, name]) => name), `return ${code};`)(...values);
  const run = kind === "text" ? traced : (f, args) => f(...args);
  results.push(calls.map((args) => run(bound, args.map((each) => each ?? undefined)) ?? null));
}
process.stdout.write(JSON.stringify(results, told));
