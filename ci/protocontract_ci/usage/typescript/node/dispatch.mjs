// Finds where a file does one thing or another by the value of an enum or the case of a oneof, and whether it has an answer
// for a value that it does not name.
import { branchesOf, branchesOfTable, excluded, keysOfMap } from "./branches.mjs";
import { collect, isEquality } from "./syntax.mjs";

export function findDispatches(finder) {
  const { ts, file } = finder;
  const visit = (node) => {
    if (ts.isSwitchStatement(node)) ofSwitch(finder, node);
    else if (ts.isIfStatement(node)) ofChain(finder, node);
    else if (ts.isObjectLiteralExpression(node)) ofTable(finder, node);
    else if (ts.isElementAccessExpression(node)) ofLookup(finder, node);
    else if (ts.isCallExpression(node)) ofCall(finder, node);
    const checked = neverChecked(finder, node);
    if (checked) {
      for (const { path, named } of subjects(finder, checked)) {
        finder.add(neverPlace(ts, node), path, "match_open", { handles: excluded(finder, checked, named) });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
}

// The enums and oneofs that an expression is a value of, each with the elements by what names them there: the case of a
// oneof; the number of an enum's value, its name in TypeScript or that in JSON.
function subjects(finder, node) {
  const { meanings, tables } = finder;
  const oneofs = meanings.oneofs(node);
  if (oneofs.length) return oneofs.map((path) => ({ path, named: tables.oneofs[path] ?? {} }));
  const bare = meanings.bare(node);
  for (const [table, enums] of [
    ["numbers", meanings.enums(meanings.declared(bare))],
    ["members", finder.namesOf(bare)],
    ["values", finder.jsonEnums(bare)],
  ]) {
    if (enums.length) return enums.map((path) => ({ path, named: tables.enums[path][table] }));
  }
  return [];
}

// A dispatch by the value of an expression, which has branches for what the nodes stand for.
function add(finder, place, node, how, branches, origin) {
  for (const { path, named } of subjects(finder, node)) finder.add(place, path, how, { origin, handles: branchesOf(finder, branches, named) });
}

// -- switch

function ofSwitch(finder, node) {
  const { ts } = finder;
  const branches = node.caseBlock.clauses.filter(ts.isCaseClause).map((clause) => clause.expression);
  for (const each of branches) finder.compared(each, node.expression);
  const otherwise = node.caseBlock.clauses.find(ts.isDefaultClause);
  const rest = otherwise ? otherwise.statements : following(finder, node);
  if (checksNever(finder, rest)) return;
  const thrown = failing(ts, rest);
  if (thrown) add(finder, thrown, node.expression, "match_open", branches, node);
  else add(finder, node, node.expression, rest.length || otherwise ? "match_closed" : "match_open", branches);
}

// The statements after a switch, where none of its clauses goes on there: they are what happens to other values.
function following(finder, node) {
  const { ts } = finder;
  const leaves = node.caseBlock.clauses.every((clause, at, all) => {
    const last = clause.statements.at(-1);
    return last ? isExit(ts, last) : at < all.length - 1;
  });
  const block = node.parent.statements;
  return leaves && block ? block.slice(block.indexOf(node) + 1) : [];
}

function isExit(ts, node) {
  if (ts.isBlock(node)) return node.statements.length > 0 && isExit(ts, node.statements.at(-1));
  return ts.isReturnStatement(node) || ts.isThrowStatement(node) || ts.isContinueStatement(node);
}

// The throw with which statements begin: no answer but a failure.
export function failing(ts, statements) {
  let first = statements[0];
  while (first && ts.isBlock(first)) [first] = first.statements;
  return first && ts.isThrowStatement(first) ? first : undefined;
}

// -- if ... else if

function ofChain(finder, node) {
  const { ts } = finder;
  if (ts.isIfStatement(node.parent) && node.parent.elseStatement === node) return;
  if (ofRow(finder, node)) return;
  const tested = [];
  const branches = [];
  let link = node;
  for (;;) {
    const test = testedIn(finder, link.expression);
    if (!test) break;
    tested.push(test.subject);
    branches.push(...test.branches);
    if (!link.elseStatement || !ts.isIfStatement(link.elseStatement)) break;
    link = link.elseStatement;
  }
  if (tested.length < 2 || new Set(tested.map((each) => each.getText(finder.file))).size !== 1) return;
  const block = node.parent.statements;
  const rest = link.elseStatement ? [link.elseStatement] : block ? block.slice(block.indexOf(node) + 1) : [];
  if (checksNever(finder, rest)) return;
  const thrown = failing(ts, rest);
  if (thrown) add(finder, thrown, tested[0], "match_open", branches, node);
  else add(finder, node, tested[0], rest.length ? "match_closed" : "match_open", branches);
}

// `if (x === A) return ...; if (x === B) return ...;` and so on, where what follows them throws: whether it is such a row.
function ofRow(finder, node) {
  const { ts } = finder;
  finder.rows ??= new Set();
  if (finder.rows.has(node)) return true;
  const rest = node.parent.statements?.slice(node.parent.statements.indexOf(node)) ?? [];
  const row = [];
  for (const each of rest) {
    const test = ts.isIfStatement(each) && !each.elseStatement && isExit(ts, each.thenStatement) ? testedIn(finder, each.expression) : undefined;
    if (!test || (row.length && test.subject.getText(finder.file) !== row[0].subject.getText(finder.file))) break;
    row.push(test);
  }
  const thrown = failing(ts, rest.slice(row.length));
  if (row.length < 2 || !thrown) return false;
  for (const each of rest.slice(0, row.length)) finder.rows.add(each);
  add(finder, thrown, row[0].subject, "match_open", row.flatMap((each) => each.branches), node);
  return true;
}

// What a condition compares, and with what: `x === A`, `x === A || x === B`, `[A, B].includes(x)`.
function testedIn(finder, test) {
  const { ts } = finder;
  if (ts.isParenthesizedExpression(test)) return testedIn(finder, test.expression);
  if (ts.isCallExpression(test)) return testedByList(finder, test);
  if (!ts.isBinaryExpression(test)) return undefined;
  const kind = test.operatorToken.kind;
  if (kind === ts.SyntaxKind.BarBarToken) {
    const [left, right] = [test.left, test.right].map((side) => testedIn(finder, side));
    if (left?.subject.getText(finder.file) !== right?.subject.getText(finder.file)) return undefined;
    return left && right && { subject: left.subject, branches: [...left.branches, ...right.branches] };
  }
  if (!isEquality(ts, kind)) return undefined;
  const subject = [test.left, test.right].find((side) => subjects(finder, side).length && !isConstant(finder, side));
  const { ExclamationEqualsToken, ExclamationEqualsEqualsToken } = ts.SyntaxKind;
  // What is done for all other values is no branch for this one.
  const named = kind !== ExclamationEqualsToken && kind !== ExclamationEqualsEqualsToken;
  return subject && { subject, branches: named ? [subject === test.left ? test.right : test.left] : [] };
}

function testedByList(finder, call) {
  const branches = listed(finder, call);
  return branches && subjects(finder, call.arguments[0]).length ? { subject: call.arguments[0], branches } : undefined;
}

// The items of the list that is asked whether it has a value.
function listed(finder, call) {
  const { ts } = finder;
  if (!ts.isPropertyAccessExpression(call.expression) || call.expression.name.text !== "includes" || !call.arguments.length) return undefined;
  const list = finder.meanings.bare(call.expression.expression);
  const items = ts.isArrayLiteralExpression(list) ? list : finder.meanings.initializer(list);
  const bare = items && finder.meanings.bare(items);
  return bare && ts.isArrayLiteralExpression(bare) ? [...bare.elements] : undefined;
}

function isConstant(finder, node) {
  const { ts } = finder;
  // `const FIRST = State.OPEN`
  if (ts.isIdentifier(node)) return finder.meanings.declared(node).isLiteral();
  return ts.isPropertyAccessExpression(node) && finder.meanings.at(node.name).some((entry) => entry.kind === "value");
}

// -- checks that nothing is left

function checksNever(finder, statements) {
  return [...statements].some((statement) => collect(finder.ts, statement, (node) => neverChecked(finder, node) !== undefined).length);
}

// What must be never at a place: the initializer of a variable of that type, an argument, the left side of `satisfies`.
function neverChecked(finder, node) {
  const { ts, checker } = finder;
  if (ts.isVariableDeclaration(node) && node.initializer && node.type?.kind === ts.SyntaxKind.NeverKeyword) return node.initializer;
  if (ts.isSatisfiesExpression(node) && node.type.kind === ts.SyntaxKind.NeverKeyword) return node.expression;
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
    const signature = checker.getResolvedSignature(node);
    const at = (signature?.parameters ?? []).findIndex((parameter) => parameter.valueDeclaration?.type?.kind === ts.SyntaxKind.NeverKeyword);
    return at >= 0 ? node.arguments?.[at] : undefined;
  }
  return undefined;
}

function neverPlace(ts, node) {
  return ts.isVariableDeclaration(node) ? node.name : node;
}

// -- tables

// An object that must have a property for every value: Record<State, string>.
function ofTable(finder, node) {
  const { ts, checker } = finder;
  let around = node;
  while (ts.isAsExpression(around.parent) || ts.isParenthesizedExpression(around.parent)) around = around.parent;
  const holder = around.parent;
  const annotated = ts.isSatisfiesExpression(holder) ? checker.getTypeFromTypeNode(holder.type) : checker.getContextualType(node);
  for (const property of node.properties) tableKey(finder, property);
  if (!annotated) return;
  const paths = new Set(keysOf(finder, annotated));
  const place = ts.isVariableDeclaration(holder) || ts.isPropertyAssignment(holder) ? holder.name : ts.isSatisfiesExpression(holder) ? holder.type : node;
  for (const path of paths) {
    const named = finder.tables.oneofs[path] ?? finder.tables.enums[path].numbers;
    finder.add(place, path, "match_open", { origin: place === node ? undefined : node, handles: branchesOfTable(finder, node, named) });
  }
}

// A key that is the case of a oneof by which the table is looked up.
function tableKey(finder, property) {
  const { ts } = finder;
  const name = property.name;
  if (!name || !(ts.isIdentifier(name) || ts.isStringLiteralLike(name))) return;
  const declaration = property.parent.parent;
  if (!ts.isVariableDeclaration(declaration) || !ts.isIdentifier(declaration.name)) return;
  for (const path of lookupsOf(finder, declaration)) {
    for (const field of finder.tables.oneofs[path]?.[name.text] ?? []) finder.add(name, field, "which_oneof");
  }
}

// The oneofs by whose case a constant table is looked up in this file.
function lookupsOf(finder, declaration) {
  const { ts } = finder;
  finder.lookups ??= collect(ts, finder.file, ts.isElementAccessExpression);
  const found = new Set();
  for (const access of finder.lookups) {
    if (finder.meanings.declaration(finder.meanings.bare(access.expression)) !== declaration) continue;
    for (const path of finder.meanings.oneofs(access.argumentExpression)) found.add(path);
  }
  return found;
}

// The enums or oneofs whose every value is a required property of a type.
function keysOf(finder, type) {
  const { ts, checker } = finder;
  const properties = checker.getPropertiesOfType(type);
  const keys = properties.map((property) => property.links?.keyType);
  if (!keys.length || keys.some((key) => !key) || properties.some((property) => property.flags & ts.SymbolFlags.Optional)) return [];
  if (keys.every((key) => key.flags & ts.TypeFlags.EnumLike)) return [...new Set(keys.flatMap((key) => finder.meanings.enums(key)))];
  if (!keys.every((key) => key.isStringLiteral())) return [];
  const texts = keys.map((key) => key.value).sort().join(" ");
  return Object.entries(finder.tables.oneofs).filter(([, cases]) => Object.keys(cases).sort().join(" ") === texts).map(([path]) => path);
}

function ofLookup(finder, node) {
  const { ts } = finder;
  if (finder.enumObject(node.expression).length) return;
  const argument = node.argumentExpression;
  const asked = subjects(finder, argument);
  if (!asked.length || isConstant(finder, argument)) return;
  const type = finder.checker.getTypeAtLocation(node.expression);
  if (finder.meanings.isOfContract(type)) return;
  // A table that must be complete is looked at where it is written.
  if (keysOf(finder, type).length) return;
  for (const { path, named } of asked) {
    finder.add(node, path, hasAnswer(ts, node) ? "match_closed" : "match_open", { handles: branchesOfTable(finder, node.expression, named) });
  }
}

function ofCall(finder, node) {
  const { ts } = finder;
  if (!ts.isPropertyAccessExpression(node.expression) || !node.arguments.length) return;
  const name = node.expression.name.text;
  if (name === "get") {
    const type = finder.checker.getTypeAtLocation(node.expression.expression);
    if (type.symbol?.name !== "Map" && type.symbol?.name !== "ReadonlyMap") return;
    const open = ts.isNonNullExpression(node.parent);
    add(finder, node, node.arguments[0], open ? "match_open" : "match_closed", keysOfMap(finder, node.expression.expression));
  } else if (name === "includes") {
    for (const each of listed(finder, node) ?? []) finder.compared(each, node.arguments[0]);
  }
}

// Whether a lookup that finds nothing has an answer: `?? x`, `|| x`, `?.`, or a comparison.
export function hasAnswer(ts, node) {
  let top = node;
  while (ts.isParenthesizedExpression(top.parent)) top = top.parent;
  const { parent } = top;
  if (ts.isOptionalChain(parent) && parent.expression === top) return true;
  if (!ts.isBinaryExpression(parent)) return ts.isPrefixUnaryExpression(parent) || ts.isIfStatement(parent);
  const { QuestionQuestionToken, BarBarToken, AmpersandAmpersandToken } = ts.SyntaxKind;
  const kind = parent.operatorToken.kind;
  return isEquality(ts, kind) || (parent.left === top && [QuestionQuestionToken, BarBarToken, AmpersandAmpersandToken].includes(kind));
}
