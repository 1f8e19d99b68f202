// Numbers that a file compares with or gives to a call: its own idea of how late is too late. In seconds, where it is said
// that they are milliseconds: by the clock that they are compared with, by the call that waits, or by the name of a constant.
import { calledName, collect } from "./syntax.mjs";

const CLOCKS = new Set(["now", "getTime", "valueOf", "timestampMs"]);
const TIMERS = new Set(["setTimeout", "setInterval", "timeout"]);
const IN_MILLISECONDS = /(^|[a-z_])(ms|milli(s|seconds)?)$|(Ms|Milli(s|seconds)?)$/i;
const DEPTH = 6;

// A list of {line, value, compared, origin}: the line of the constant, or 0. 0 and 1 say nothing.
export function findThresholds(ts, checker, meanings, file) {
  const found = [];
  const reader = { ts, checker, meanings };
  const lineOf = (node) => file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
  const add = (node, compared, milliseconds) => {
    const value = numberOf(reader, node);
    if (value === undefined || value === 0 || value === 1) return;
    const made = meanings.initializer(meanings.bare(node));
    const origin = made && made.getSourceFile() === file ? lineOf(made) : 0;
    const line = lineOf(node);
    found.push({ line, value: milliseconds || isMilliseconds(reader, node) ? value / 1000 : value, compared, origin: origin === line ? 0 : origin });
  };
  for (const node of collect(ts, file, (each) => ts.isBinaryExpression(each) || ts.isCallExpression(each))) {
    if (ts.isCallExpression(node)) {
      for (const each of node.arguments) add(each, false, TIMERS.has(calledName(ts, node)));
    } else if (isComparison(ts, node.operatorToken.kind) && ![node.left, node.right].some((side) => isCount(reader, side))) {
      add(node.left, true, isMilliseconds(reader, node.right));
      add(node.right, true, isMilliseconds(reader, node.left));
    }
  }
  return found;
}

function isComparison(ts, kind) {
  const { SyntaxKind } = ts;
  return [
    SyntaxKind.LessThanToken, SyntaxKind.LessThanEqualsToken, SyntaxKind.GreaterThanToken, SyntaxKind.GreaterThanEqualsToken,
    SyntaxKind.EqualsEqualsToken, SyntaxKind.EqualsEqualsEqualsToken, SyntaxKind.ExclamationEqualsToken,
    SyntaxKind.ExclamationEqualsEqualsToken,
  ].includes(kind);
}

// How many there are is no time.
function isCount(reader, node) {
  const bare = reader.meanings.bare(node);
  return reader.ts.isPropertyAccessExpression(bare) && ["length", "size"].includes(bare.name.text);
}

// The value of a number, of a product, quotient or sum of numbers, or of a constant that is one.
function numberOf(reader, node, depth = 0) {
  const { ts, meanings } = reader;
  const bare = meanings.bare(node);
  if (ts.isNumericLiteral(bare)) return Number(bare.text.replaceAll("_", ""));
  if (ts.isBigIntLiteral(bare)) return Number(bare.text.replaceAll("_", "").replace(/n$/, ""));
  if (depth > DEPTH) return undefined;
  if (ts.isBinaryExpression(bare)) {
    const [left, right] = [numberOf(reader, bare.left, depth + 1), numberOf(reader, bare.right, depth + 1)];
    if (left === undefined || right === undefined) return undefined;
    const { AsteriskToken, SlashToken, PlusToken } = ts.SyntaxKind;
    return { [AsteriskToken]: left * right, [SlashToken]: left / right, [PlusToken]: left + right }[bare.operatorToken.kind];
  }
  const made = meanings.initializer(bare);
  return made && made !== bare ? numberOf(reader, made, depth + 1) : undefined;
}

// Whether an expression counts milliseconds: it reads a clock of JavaScript, is a Date, or is called so.
function isMilliseconds(reader, node, depth = 0) {
  const { ts, checker, meanings } = reader;
  const bare = meanings.bare(node);
  if (depth > DEPTH) return false;
  const name = ts.isIdentifier(bare) ? bare.text : ts.isPropertyAccessExpression(bare) ? bare.name.text : "";
  if (IN_MILLISECONDS.test(name)) return true;
  if (checker.getTypeAtLocation(bare).symbol?.name === "Date") return true;
  if (ts.isCallExpression(bare)) {
    const called = calledName(ts, bare);
    return CLOCKS.has(called) || (["Number", "abs", "round", "floor", "ceil", "max", "min"].includes(called) && bare.arguments.some((each) => isMilliseconds(reader, each, depth + 1)));
  }
  if (ts.isBinaryExpression(bare)) {
    const { PlusToken, MinusToken } = ts.SyntaxKind;
    // Divided or multiplied, it counts something else.
    if (![PlusToken, MinusToken].includes(bare.operatorToken.kind)) return false;
    return isMilliseconds(reader, bare.left, depth + 1) || isMilliseconds(reader, bare.right, depth + 1);
  }
  if (ts.isPrefixUnaryExpression(bare)) return isMilliseconds(reader, bare.operand, depth + 1);
  const made = meanings.initializer(bare);
  return made !== undefined && made !== bare && isMilliseconds(reader, made, depth + 1);
}
