// Reads TypeScript modules: a request is {root, files, states: {all, old?, new?}, affected, named?, absent?}.
import { findAbsent } from "./absent.mjs";
import { Compiler } from "./compiler.mjs";
import { freshErrors } from "./errors.mjs";
import { runnable } from "./functions.mjs";
import { Meanings } from "./meanings.mjs";
import { findThresholds } from "./thresholds.mjs";
import { findUses } from "./uses.mjs";

// What was found. `libraries` keeps the compiler's own declarations for the next request.
export function read(ts, request, libraries) {
  const affected = new Set(request.affected);
  const compiler = new Compiler(ts, request, libraries);
  const found = { uses: [], unread: [], copies: compiler.copies, imports: [], errors: [], gone: [], functions: {}, modules: {}, absent: [] };
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
    const touched = new Set();
    const using = [];
    for (const name of readable) {
      const { uses, values, constructs } = findUses(ts, all, meanings, all.getSourceFile(name));
      const thresholds = uses.length ? findThresholds(ts, all.getTypeChecker(), meanings, all.getSourceFile(name)) : [];
      found.uses.push({ file: compiler.below(name), uses, values, constructs, thresholds });
      if (uses.length) using.push(name);
      if (request.absent) found.absent.push(...findAbsent(ts, all, meanings, all.getSourceFile(name)).map((each) => ({ file: compiler.below(name), ...each })));
      if (uses.some(({ path }) => affected.has(path) || affected.has(path.slice(0, path.lastIndexOf("."))))) touched.add(name);
    }
    if (request.named) {
      const { functions, modules } = runnable(ts, all, meanings, compiler, using, request.named);
      Object.assign(found.functions, functions);
      Object.assign(found.modules, modules);
    }
    // What uses nothing that differs, nor a file that does, has the same errors on both sides.
    const checked = importersOf(all, readable, touched);
    if (checked.length) {
      const programs = ["old", "new"].map((state) => compiler.program({ ...group, files: checked }, state));
      for (const name of checked) {
        const { fresh, gone } = freshErrors(ts, programs, meanings, all.getSourceFile(name));
        if (fresh.length) found.errors.push({ file: compiler.below(name), errors: fresh });
        if (gone.length) found.gone.push({ file: compiler.below(name), lines: gone });
      }
    }
  }
  found.unread.push(...compiler.foreign());
  found.imports.push(...compiler.copyImports.values());
  return found;
}

// The files that are touched, and those that import them, directly or through others.
function importersOf(program, names, touched) {
  const imports = new Map(
    names.map((name) => [
      name,
      program.getSourceFile(name).imports.map((each) => program.getResolvedModuleFromModuleSpecifier(each)?.resolvedModule?.resolvedFileName),
    ]),
  );
  for (let grows = touched.size > 0; grows; ) {
    const more = names.filter((name) => !touched.has(name) && imports.get(name).some((each) => touched.has(each)));
    more.forEach((name) => touched.add(name));
    grows = more.length > 0;
  }
  return names.filter((name) => touched.has(name));
}
