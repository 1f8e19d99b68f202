// Names that the contracts do not have: what the compiler misses in a message, an enum or a generated module.
import { nodeAt } from "./errors.mjs";

// "Property does not exist", with and without a proposal; the same of the properties of an object that is given.
const OF_TYPES = new Set([2339, 2551, 2353, 2561]);
// "Module has no exported member", with and without a proposal.
const OF_MODULES = new Set([2305, 2724]);

// A list of {line, owner, name}: the full name of the message or enum, or the package, and the name that it does not have.
export function findAbsent(ts, program, meanings, file) {
  const found = [];
  for (const { code, start, length } of program.getSemanticDiagnostics(file)) {
    if (start === undefined || !(OF_TYPES.has(code) || OF_MODULES.has(code))) continue;
    const node = nodeAt(ts, file, start, length ?? 0);
    const name = ts.isIdentifier(node) || ts.isStringLiteralLike(node) ? node.text : "";
    const owners = OF_MODULES.has(code) ? packagesOf(ts, program, meanings, node) : ownersOf(ts, meanings, node);
    const line = file.getLineAndCharacterOfPosition(start).line + 1;
    if (name) for (const owner of new Set(owners)) found.push({ line, owner, name });
  }
  return found;
}

function ownersOf(ts, meanings, node) {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) {
    const held = parent.expression;
    const enums = ts.isIdentifier(held) || ts.isPropertyAccessExpression(held) ? meanings.at(ts.isIdentifier(held) ? held : held.name) : [];
    return [...meanings.messages(meanings.type(held)), ...enums.filter(({ kind }) => kind === "enum").map(({ path }) => path)];
  }
  if (ts.isElementAccessExpression(parent)) return meanings.messages(meanings.type(parent.expression));
  if (ts.isBindingElement(parent) && ts.isObjectBindingPattern(parent.parent)) {
    const around = parent.parent.parent;
    return meanings.messages(around.initializer && !ts.isParameter(around) ? meanings.type(around.initializer) : meanings.checker.getTypeAtLocation(around));
  }
  if (ts.isObjectLiteralElementLike(parent) && ts.isObjectLiteralExpression(parent.parent)) {
    const type = meanings.checker.getContextualType(parent.parent);
    return type ? meanings.messages(type) : [];
  }
  return [];
}

function packagesOf(ts, program, meanings, node) {
  let at = node;
  while (at && !ts.isImportDeclaration(at) && !ts.isExportDeclaration(at)) at = at.parent;
  const resolved = at?.moduleSpecifier && program.getResolvedModuleFromModuleSpecifier(at.moduleSpecifier)?.resolvedModule?.resolvedFileName;
  const proto = meanings.protos.get(resolved);
  return proto ? (meanings.tables.packages[proto] ?? []).filter((name) => name) : [];
}
