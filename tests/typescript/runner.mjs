// Runs generated contracts on a table: lines of JSON in, a line of JSON out for each case.
// Arguments: the folder of npm's packages, and the folder of generated TypeScript, which is made into JavaScript first.
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { transpile } from "./transpile.mjs";

const [packages, folder] = process.argv.slice(2);
const require = createRequire(join(packages, "package.json"));
const { createFileRegistry, fromBinary, toBinary } = require("@bufbuild/protobuf");
const { FileDescriptorSetSchema } = require("@bufbuild/protobuf/wkt");

transpile(packages, folder);

const load = (root, name) => import(pathToFileURL(join(folder, root, `${name}.js`)).href);

// A value as Python tells it: with what JSON has no word for.
function told(value) {
  if (value === undefined) return null;
  if (typeof value === "bigint") return { number: String(value) };
  if (typeof value === "number") return { number: Object.is(value, -0) ? "-0" : String(value) };
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString("hex") };
  return typeof value === "object" ? "object" : value;
}

const shown = (explain) => (found) => [found.path, found.ruleId, found.code, found.message, found.severity, found.forKey, explain(found)];

function validated(contract, message, options, explain) {
  try {
    return contract.validate(message, options).map(shown(explain));
  } catch (error) {
    if (error.name === "RuleEvaluationError") return `evaluation error: ${error.message}`;
    throw error;
  }
}

let registry;
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  if (asked.descriptors !== undefined) {
    registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, Buffer.from(asked.descriptors, "hex")));
    continue;
  }
  let answer;
  try {
    const contract = (await load(asked.root, asked.module))[asked.name];
    const { explain } = await load(asked.root, "protocontract/v1/violation");
    const schema = registry.getMessage(contract.fullName);
    const options = { now: BigInt(asked.now), ...(asked.context === null ? {} : { context: asked.context }) };
    const message = fromBinary(schema, Buffer.from(asked.raw, "hex"));
    const before = Buffer.from(toBinary(schema, message)).toString("hex");
    const outcome = contract.process(message, options);
    answer = {
      validated: validated(contract, message, options, explain),
      ok: outcome.ok,
      violations: outcome.violations.map(shown(explain)),
      changes: outcome.changes.map((change) => [change.path, change.ruleId, told(change.before), told(change.after)]),
      decoded: outcome.decoded === undefined ? null : Buffer.from(toBinary(schema, outcome.decoded)).toString("hex"),
      // The caller's own message stays as it is.
      kept: Buffer.from(toBinary(schema, message)).toString("hex") === before,
    };
  } catch (error) {
    answer = { crash: `${error?.stack ?? error}` };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
