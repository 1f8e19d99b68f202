// The type errors of a file against the new declarations that it did not have against the old ones, each with the elements of
// the contracts that it comes from.

export function freshErrors(ts, [old, fresh], meanings, file) {
  const before = errorsOf(old, file.fileName);
  const after = errorsOf(fresh, file.fileName);
  const found = [];
  for (const [key, error] of after) {
    if (before.has(key)) continue;
    const line = file.getLineAndCharacterOfPosition(error.start).line + 1;
    found.push({ line, code: error.code, ...sources(ts, meanings, file, error) });
  }
  const gone = [...before].filter(([key]) => !after.has(key)).map(([, error]) => file.getLineAndCharacterOfPosition(error.start).line + 1);
  return { fresh: found.sort((a, b) => a.line - b.line || a.code - b.code), gone: [...new Set(gone)].sort((a, b) => a - b) };
}

function errorsOf(program, name) {
  const found = new Map();
  for (const error of program.getSemanticDiagnostics(program.getSourceFile(name))) {
    if (error.start !== undefined) found.set(`${error.start} ${error.code}`, error);
  }
  return found;
}

// The elements that stand in what an error is about, and in what its variables were made from; with the lines of the file.
function sources(ts, meanings, file, error) {
  const paths = new Map();
  const seen = new Set();
  const look = (node, depth) => {
    if (!node || seen.has(node) || depth > 6) return;
    seen.add(node);
    const inside = [];
    const visit = (each) => {
      if (ts.isIdentifier(each) || ts.isStringLiteralLike(each)) inside.push(each);
      if (!(each !== node && ts.isFunctionLike(each) && each.body && ts.isBlock(each.body))) ts.forEachChild(each, visit);
    };
    visit(node);
    for (const each of inside) {
      const source = each.getSourceFile();
      const line = source === file ? file.getLineAndCharacterOfPosition(each.getStart(file)).line + 1 : 0;
      const symbol = ts.isIdentifier(each) ? meanings.checker.getSymbolAtLocation(each) : undefined;
      const entries = [...meanings.of(symbol), ...propertyOf(ts, meanings, each)];
      for (const { path, field } of entries) {
        for (const name of field ? [path, field] : [path]) if (!paths.has(name) || !paths.get(name)) paths.set(name, line);
      }
      if (entries.length) continue;
      const target = symbol && symbol.flags & ts.SymbolFlags.Alias ? meanings.checker.getAliasedSymbol(symbol) : symbol;
      const declaration = target?.valueDeclaration;
      if (declaration && !seen.has(declaration)) {
        look(declaration.initializer ?? (ts.isFunctionLike(declaration) ? declaration.body : ts.isBindingElement(declaration) ? declaration.parent.parent : ts.isVariableDeclaration(declaration) ? declaration.parent.parent : undefined), depth + 1);
      }
    }
  };
  // From the narrowest node outwards until something of a contract stands there.
  for (let node = nodeAt(ts, file, error.start, error.length ?? 0); node && !paths.size; node = node.parent) {
    if (ts.isSourceFile(node) || (ts.isBlock(node) && ts.isFunctionLike(node.parent))) {
      look(node, 0);
      break;
    }
    look(node, 0);
  }
  return { paths: [...paths].map(([path, line]) => ({ path, line })) };
}

// A property of an object literal or a pattern, which has no symbol of a contract of its own; a text that names a case.
function propertyOf(ts, meanings, node) {
  const { parent } = node;
  if (ts.isBindingElement(parent) && (parent.propertyName ?? parent.name) === node) return meanings.binding(parent);
  if ((ts.isPropertyAssignment(parent) || ts.isShorthandPropertyAssignment(parent) || ts.isMethodDeclaration(parent)) && parent.name === node && ts.isObjectLiteralExpression(parent.parent)) {
    const type = meanings.checker.getContextualType(parent.parent);
    return type ? meanings.property(type, node.text) : [];
  }
  if (ts.isStringLiteralLike(node) && ts.isBinaryExpression(parent)) {
    const other = parent.left === node ? parent.right : parent.left;
    return meanings.oneofs(other).flatMap((path) => (meanings.tables.oneofs[path]?.[node.text] ?? []).map((field) => ({ kind: "case", path, field })));
  }
  if (ts.isStringLiteralLike(node) && ts.isElementAccessExpression(parent)) return meanings.property(meanings.checker.getTypeAtLocation(parent.expression), node.text);
  return [];
}

export function nodeAt(ts, file, start, length) {
  let found = file;
  const visit = (node) => {
    if (node.getStart(file) <= start && start + length <= node.end) {
      found = node;
      ts.forEachChild(node, visit);
    }
  };
  ts.forEachChild(file, visit);
  return found;
}
