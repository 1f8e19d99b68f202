// Answers requests as long as standard input has them: a line of JSON each, and so are the answers on standard output.
// The first argument is the folder whose node_modules has the TypeScript compiler.
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { read } from "./read.mjs";

const ts = createRequire(join(process.argv[2], "package.json"))("typescript");
const libraries = new Map();
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  process.stdout.write(`${JSON.stringify(read(ts, JSON.parse(line), libraries))}\n`);
}
