// The literals that an expression may be: what is written into a contract and can be judged without running anything.

// A list of {text | number | integer | flag | unset | list}, or null where nobody knows.
export function literalsOf(ts, checker, meanings, node) {
  const bare = meanings.bare(node);
  if (ts.isArrayLiteralExpression(bare)) {
    const items = bare.elements.map((each) => literalsOf(ts, checker, meanings, each));
    return items.every((each) => each?.length === 1) ? [{ list: items.map((each) => each[0]) }] : null;
  }
  if (ts.isConditionalExpression(bare)) return both(literalsOf(ts, checker, meanings, bare.whenTrue), literalsOf(ts, checker, meanings, bare.whenFalse));
  const type = checker.getTypeAtLocation(bare);
  const parts = type.isUnion() ? type.types : [type];
  const found = parts.map((part) => literal(ts, checker, part));
  if (found.every((each) => each !== null)) return found;
  const made = meanings.initializer(bare);
  return made ? literalsOf(ts, checker, meanings, made) : null;
}

function both(one, other) {
  return one && other ? [...one, ...other] : null;
}

function literal(ts, checker, type) {
  if (type.isStringLiteral()) return { text: type.value };
  if (type.isNumberLiteral()) return { number: type.value };
  if (type.flags & ts.TypeFlags.BigIntLiteral) return { integer: `${type.value.negative ? "-" : ""}${type.value.base10Value}` };
  if (type.flags & ts.TypeFlags.BooleanLiteral) return { flag: checker.typeToString(type) === "true" };
  if (type.flags & ts.TypeFlags.Undefined) return { unset: true };
  return null;
}
