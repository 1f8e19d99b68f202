// Reads TypeScript modules. Standard input: {root, files, states: {all, old?, new?}}; standard output: what was found, as JSON.
// The first argument is the folder whose node_modules has the TypeScript compiler.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Compiler } from "./compiler.mjs";
import { freshErrors } from "./errors.mjs";
import { Meanings } from "./meanings.mjs";
import { findUses } from "./uses.mjs";

const ts = createRequire(join(process.argv[2], "package.json"))("typescript");
const request = JSON.parse(readFileSync(0, "utf8"));
const compiler = new Compiler(ts, request);
const found = { uses: [], unread: [], copies: compiler.copies, errors: [], gone: [] };
for (const group of compiler.groups()) {
  const all = compiler.program(group, "all");
  const meanings = new Meanings(ts, all.getTypeChecker(), compiler.meanings("all"), request.states.all.tables);
  const readable = [];
  for (const name of group.files) {
    const broken = all.getSyntacticDiagnostics(all.getSourceFile(name))[0];
    if (broken) {
      const text = ts.flattenDiagnosticMessageText(broken.messageText, " ");
      const { line } = broken.file.getLineAndCharacterOfPosition(broken.start);
      found.unread.push({ file: compiler.below(name), reason: `line ${line + 1}: ${text.replace(/\.$/, "")}` });
    } else {
      readable.push(name);
    }
  }
  for (const name of readable) {
    const { uses, values, constructs } = findUses(ts, all, meanings, all.getSourceFile(name));
    found.uses.push({ file: compiler.below(name), uses, values, constructs });
  }
  if (request.states.old && request.states.new) {
    const programs = [compiler.program(group, "old"), compiler.program(group, "new")];
    for (const name of readable) {
      const { fresh, gone } = freshErrors(ts, programs, meanings, all.getSourceFile(name));
      if (fresh.length) found.errors.push({ file: compiler.below(name), errors: fresh });
      if (gone.length) found.gone.push({ file: compiler.below(name), lines: gone });
    }
  }
}
found.unread.push(...compiler.foreign());
process.stdout.write(JSON.stringify(found));
