// Questions about the syntax of TypeScript alone.

export function calledName(ts, call) {
  if (ts.isIdentifier(call.expression)) return call.expression.text;
  return ts.isPropertyAccessExpression(call.expression) ? call.expression.name.text : "";
}

export function isConst(ts, declaration) {
  return ts.isVariableDeclarationList(declaration.parent) && (declaration.parent.flags & ts.NodeFlags.Const) !== 0;
}

export function collect(ts, node, fits, found = []) {
  if (fits(node)) found.push(node);
  ts.forEachChild(node, (child) => void collect(ts, child, fits, found));
  return found;
}

export function isEquality(ts, kind) {
  const { EqualsEqualsToken, EqualsEqualsEqualsToken, ExclamationEqualsToken, ExclamationEqualsEqualsToken } = ts.SyntaxKind;
  return [EqualsEqualsToken, EqualsEqualsEqualsToken, ExclamationEqualsToken, ExclamationEqualsEqualsToken].includes(kind);
}

export function isConsole(ts, call) {
  return ts.isPropertyAccessExpression(call.expression) && call.expression.expression.getText() === "console";
}

export function isAbsent(ts, node) {
  return node.kind === ts.SyntaxKind.NullKeyword || (ts.isIdentifier(node) && node.text === "undefined") || ts.isVoidExpression(node);
}

export function isTarget(ts, node) {
  const { parent } = node;
  if (ts.isBinaryExpression(parent) && parent.left === node) {
    return parent.operatorToken.kind >= ts.SyntaxKind.FirstAssignment && parent.operatorToken.kind <= ts.SyntaxKind.LastAssignment;
  }
  if (ts.isPrefixUnaryExpression(parent) || ts.isPostfixUnaryExpression(parent)) {
    return parent.operator === ts.SyntaxKind.PlusPlusToken || parent.operator === ts.SyntaxKind.MinusMinusToken;
  }
  return (ts.isForOfStatement(parent) || ts.isForInStatement(parent)) && parent.initializer === node;
}

export function isInHeritage(ts, node) {
  for (let at = node; at; at = at.parent) {
    if (ts.isHeritageClause(at)) return true;
    if (ts.isStatement(at)) return false;
  }
  return false;
}

export function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
