// Makes JavaScript of all TypeScript in a folder, without looking at types. Arguments: npm's packages, the folder.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export function transpile(packages, folder) {
  const ts = createRequire(join(packages, "package.json"))("typescript");
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, strict: true };
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".ts")) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const made = path.replace(/ts$/, "js");
    if (existsSync(made)) continue;
    writeFileSync(made, ts.transpileModule(readFileSync(path, "utf8"), { compilerOptions }).outputText);
  }
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) transpile(process.argv[2], process.argv[3]);
