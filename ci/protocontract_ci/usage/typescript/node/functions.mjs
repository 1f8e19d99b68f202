// The functions of a file that can be run, and the file as JavaScript: what running them needs.
import { GLOBALS } from "./globals.mjs";
import { calledName, collect, isConst } from "./syntax.mjs";

const LIBRARY = "/__contract__/library/";
// Libraries that only compute; a client of services does not.
const COMPUTING = /\/(protobuf|codegen|wkt)\.d\.ts$/;
const PROTO = /^\/__contract__\/all\/(.*)\.d\.ts$/;

export class Functions {
  constructor(ts, program, meanings, compiler) {
    Object.assign(this, { ts, program, meanings, compiler, checker: program.getTypeChecker() });
    this.pure = new Map();
  }

  // The functions at the top of a file: name, parameters, lines, the message that is returned, whether something always is.
  of(file) {
    const { ts } = this;
    const found = [];
    for (const node of file.statements) {
      if (ts.isFunctionDeclaration(node) && node.name && node.body) this.add(found, node.name, node, node);
      if (!ts.isVariableStatement(node)) continue;
      for (const declaration of node.declarationList.declarations) {
        const made = declaration.initializer;
        if (!made || !isConst(ts, declaration) || !ts.isIdentifier(declaration.name)) continue;
        if (ts.isArrowFunction(made) || ts.isFunctionExpression(made)) this.add(found, declaration.name, made, node);
      }
    }
    return found;
  }

  add(found, name, node, around) {
    const { ts, checker } = this;
    const isLate = node.asteriskToken || node.modifiers?.some((each) => each.kind === ts.SyntaxKind.AsyncKeyword);
    const needed = node.parameters.filter((each) => !each.initializer && !each.questionToken);
    if (isLate || needed.some((each) => each.dotDotDotToken)) return;
    const parameters = needed.map((each) => this.parameter(each, node));
    if (parameters.some((each) => each === undefined)) return;
    const signature = checker.getSignatureFromDeclaration(node);
    const type = signature && checker.getReturnTypeOfSignature(signature);
    const { Undefined, Void, Null, Any, Unknown } = ts.TypeFlags;
    const full = type !== undefined && this.meanings.parts(type).every((part) => !(part.flags & (Undefined | Void | Null | Any | Unknown)));
    const line = (at) => this.lineAt(around.getSourceFile(), at);
    const messages = type ? this.meanings.messages(type) : [];
    found.push({
      name: name.text, parameters, first: line(around.getStart()), last: line(around.getEnd()), full,
      returns: messages.length === 1 ? messages[0] : "",
    });
  }

  lineAt(file, at) {
    return file.getLineAndCharacterOfPosition(at).line + 1;
  }

  // What can be given to a parameter; undefined where nobody knows.
  parameter(node, owner) {
    const { ts, checker, meanings } = this;
    const type = checker.getNonNullableType(checker.getTypeAtLocation(node));
    const messages = meanings.messages(type);
    if (messages.length) return this.only(type, "message");
    const kinds = [[ts.TypeFlags.String, "str"], [ts.TypeFlags.Number, "int"], [ts.TypeFlags.BigInt, "bigint"], [ts.TypeFlags.Boolean, "bool"]];
    const plain = kinds.find(([flag]) => type.flags & flag);
    if (plain) return { kind: plain[1], message: "" };
    if (type.symbol?.name === "Uint8Array") return { kind: "raw", message: this.parsedAs(node, owner) };
    if (type.flags & ts.TypeFlags.EnumLike) return { kind: "int", message: "" };
    const item = checker.isArrayType(type) ? checker.getTypeArguments(type)[0] : undefined;
    if (item && meanings.messages(item).length) return this.only(item, "messages");
    return item && item.flags & ts.TypeFlags.String ? { kind: "list", message: "" } : undefined;
  }

  // A parameter that takes one message, and nothing else.
  only(type, kind) {
    const messages = this.meanings.messages(type);
    return messages.length === 1 && this.meanings.parts(type).length === 1 ? { kind, message: messages[0] } : undefined;
  }

  // The message that bytes are parsed as: `fromBinary(OrderSchema, raw)`.
  parsedAs(parameter, owner) {
    const { ts, meanings } = this;
    const parses = (node) => ts.isCallExpression(node) && calledName(ts, node) === "fromBinary" && node.arguments.length > 1 && meanings.declaration(meanings.bare(node.arguments[1])) === parameter;
    const [call] = collect(ts, owner, parses);
    return (call && meanings.schema(call.arguments[0])[0]) ?? "";
  }

  // Whether nothing in a file can reach outside: what it imports only computes, and so does all that it names.
  isPure(file) {
    if (!this.pure.has(file)) {
      // Files that import each other are as pure as what else is in them.
      this.pure.set(file, true);
      this.pure.set(file, this.computes(file));
    }
    return this.pure.get(file);
  }

  computes(file) {
    const { ts } = this;
    for (const literal of file.imports ?? []) {
      if (this.isOfTypes(literal)) continue;
      const name = this.resolved(literal);
      if (PROTO.test(name) || (name.startsWith(LIBRARY) && COMPUTING.test(name))) continue;
      const other = name && !name.endsWith(".d.ts") && this.program.getSourceFile(name);
      if (!other || !this.compiler.isInside(name) || !this.isPure(other)) return false;
    }
    return !collect(ts, file, (node) => this.reaches(node)).length;
  }

  resolved(literal) {
    return this.program.getResolvedModuleFromModuleSpecifier(literal)?.resolvedModule?.resolvedFileName ?? "";
  }

  // An import of types alone: nothing of it is left when the file runs.
  isOfTypes(literal) {
    const { ts } = this;
    const node = literal.parent;
    if (ts.isExportDeclaration(node)) return node.isTypeOnly;
    if (!ts.isImportDeclaration(node)) return ts.isLiteralTypeNode(node);
    const clause = node.importClause;
    if (!clause || clause.isTypeOnly) return clause !== undefined;
    const names = clause.namedBindings && ts.isNamedImports(clause.namedBindings) ? clause.namedBindings.elements : [];
    return !clause.name && names.length > 0 && names.every((each) => each.isTypeOnly);
  }

  // Whether a node names what only computes not: a global of the host, the constructor of all functions, an import that is run.
  reaches(node) {
    const { ts, checker } = this;
    if (ts.isJsxOpeningLikeElement(node) || ts.isJsxFragment(node) || ts.isMetaProperty(node) || ts.isImportEqualsDeclaration(node)) return true;
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) return true;
    if (ts.isStringLiteralLike(node)) return node.text === "constructor";
    if (!ts.isIdentifier(node) || ts.isPartOfTypeNode(node)) return false;
    if (node.text === "constructor") return true;
    const { parent } = node;
    if (ts.isPropertyAccessExpression(parent) && parent.name === node) return false;
    if (ts.isDeclaration(parent) && parent.name === node && !ts.isShorthandPropertyAssignment(parent)) return false;
    const symbol = ts.isShorthandPropertyAssignment(parent) ? checker.getShorthandAssignmentValueSymbol(parent) : checker.getSymbolAtLocation(node);
    // What is only declared comes from the host.
    const own = symbol?.declarations?.some((each) => !(each.flags & ts.NodeFlags.Ambient) && !each.getSourceFile().isDeclarationFile);
    const alias = symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0;
    return !own && !alias && node.text !== "undefined" && !GLOBALS.has(node.text) && !this.isOfContract(symbol);
  }

  isOfContract(symbol) {
    return symbol?.declarations?.some((each) => each.getSourceFile().fileName.startsWith("/__contract__/")) ?? false;
  }

  // The file as JavaScript with what its imports mean: a .proto, a library by its name, or another file.
  emitted(file) {
    const { ts } = this;
    const options = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, sourceMap: true, esModuleInterop: true, jsx: ts.JsxEmit.React };
    const { outputText, sourceMapText } = ts.transpileModule(file.text, { compilerOptions: options, fileName: file.fileName });
    const imports = {};
    for (const literal of file.imports ?? []) {
      const name = this.resolved(literal);
      const proto = PROTO.exec(name);
      if (proto) imports[literal.text] = { proto: proto[1] };
      else if (name.startsWith(LIBRARY)) imports[literal.text] = { library: literal.text };
      else if (name && !name.endsWith(".d.ts") && this.compiler.isInside(name)) imports[literal.text] = { file: this.compiler.below(name) };
    }
    return { code: outputText, map: sourceMapText, imports };
  }
}

// What running functions needs: the functions of each file that may be run, and these files with those that they import, as
// JavaScript. `named` are functions that somebody said may be run, by file.
export function runnable(ts, program, meanings, compiler, names, named) {
  const functions = new Functions(ts, program, meanings, compiler);
  const found = { functions: {}, modules: {} };
  const waiting = [];
  for (const name of names) {
    const file = program.getSourceFile(name);
    const below = compiler.below(name);
    const pure = functions.isPure(file);
    const fit = functions.of(file).filter((each) => pure || named[below]?.includes(each.name));
    if (!fit.length) continue;
    found.functions[below] = fit;
    waiting.push(below);
  }
  while (waiting.length) {
    const below = waiting.pop();
    const file = program.getSourceFile(compiler.above(below));
    if (below in found.modules || !file) continue;
    found.modules[below] = functions.emitted(file);
    for (const each of Object.values(found.modules[below].imports)) if (each.file) waiting.push(each.file);
  }
  return found;
}
