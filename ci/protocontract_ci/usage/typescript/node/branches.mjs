// The values that a dispatch has branches for, as far as they are written down.

// The elements that nodes stand for: `named` says which of them a text or a number names.
export function branchesOf(finder, nodes, named) {
  return nodes.flatMap((node) => {
    const key = keyOf(finder.checker.getTypeAtLocation(finder.meanings.bare(node)));
    return key !== undefined && Object.hasOwn(named, key) ? named[key] : [];
  });
}

// The elements that an expression cannot be any more where nothing should be left of it.
export function excluded(finder, node, named) {
  const { checker, meanings } = finder;
  const { Never, Undefined } = finder.ts.TypeFlags;
  const types = meanings.parts(checker.getTypeAtLocation(node)).map((part) => {
    const symbol = checker.getPropertyOfType(part, "case");
    return symbol ? checker.getTypeOfSymbol(symbol) : part;
  });
  const left = types.filter((type) => !(type.flags & (Never | Undefined))).map(keyOf);
  if (left.includes(undefined)) return [];
  return Object.entries(named).filter(([key]) => !left.includes(key)).flatMap(([, paths]) => paths);
}

// The elements that a table has a property for: by its type, or as it was made where that says less.
export function branchesOfTable(finder, node, named) {
  const { ts, checker } = finder;
  const types = [node, madeFrom(finder, node)].map((each) => checker.getTypeAtLocation(each));
  const properties = types.flatMap((type) => checker.getPropertiesOfType(type)).filter((each) => !(each.flags & ts.SymbolFlags.Optional));
  return [...new Set(properties.map((each) => each.name))].flatMap((name) => (Object.hasOwn(named, name) ? named[name] : []));
}

// The nodes that are keys of a map: `new Map([[State.OPEN, 1]])`.
export function keysOfMap(finder, node) {
  const { ts } = finder;
  const made = madeFrom(finder, node);
  const entries = ts.isNewExpression(made) && made.arguments?.[0] && finder.meanings.bare(made.arguments[0]);
  if (!entries || !ts.isArrayLiteralExpression(entries)) return [];
  const pairs = entries.elements.map((each) => finder.meanings.bare(each)).filter(ts.isArrayLiteralExpression);
  return pairs.flatMap((pair) => pair.elements.slice(0, 1));
}

// What a table was made from: written there, a constant, or a property that nobody may set.
function madeFrom(finder, node) {
  const { ts, meanings } = finder;
  const bare = meanings.bare(node);
  const declaration = meanings.declaration(bare);
  const kept = declaration && ts.isPropertyDeclaration(declaration) && ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Readonly;
  const made = meanings.initializer(bare) ?? (kept ? declaration.initializer : undefined);
  const found = made ? meanings.bare(made) : bare;
  const isFrozen = ts.isCallExpression(found) && found.arguments.length === 1 && found.expression.getText() === "Object.freeze";
  return isFrozen ? meanings.bare(found.arguments[0]) : found;
}

// The text or number that a type is alone.
function keyOf(type) {
  return type.isStringLiteral() || type.isNumberLiteral() ? String(type.value) : undefined;
}
