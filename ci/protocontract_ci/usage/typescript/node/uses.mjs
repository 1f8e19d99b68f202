// Finds every place of a file where it uses an element of the contracts.
import { failing, findDispatches, hasAnswer } from "./dispatch.mjs";
import { initializers } from "./initializers.mjs";
import { calledName, collect, compare, isAbsent, isConsole, isEquality, isInHeritage, isTarget } from "./syntax.mjs";
import { literalsOf } from "./values.mjs";

const CHANGING = new Set(["push", "pop", "shift", "unshift", "splice", "sort", "reverse", "fill", "copyWithin", "set"]);
const SERIALIZING = new Set(["toBinary", "toJson", "toJsonString", "anyPack"]);
// Functions that take a number of either kind, and whatever else.
const TO_TEXT = new Set(["String", "Number", "BigInt"]);
const OF_VIOLATIONS = new Set(["ruleId", "rule", "field", "fieldPath"]);

export function findUses(ts, program, meanings, file) {
  return new Finder(ts, program, meanings, file).find();
}

class Finder {
  constructor(ts, program, meanings, file) {
    Object.assign(this, { ts, program, meanings, file, checker: program.getTypeChecker(), tables: meanings.tables });
    this.uses = new Map();
    this.values = [];
    this.constructs = [];
    this.imported = new Set();
    this.names = Object.keys(this.tables.messages).concat(Object.keys(this.tables.enums)).filter((name) => name.includes("."));
    this.validates = file.imports?.some((each) => each.text === "@bufbuild/protovalidate") ?? false;
  }

  find() {
    this.visit(this.file);
    findDispatches(this);
    const uses = [...this.uses.values()].sort(
      (a, b) => a.line - b.line || a.column - b.column || compare(a.path, b.path) || compare(a.how, b.how),
    );
    return { uses, values: this.values, constructs: this.constructs };
  }

  line(node) {
    return this.file.getLineAndCharacterOfPosition(node.getStart(this.file)).line + 1;
  }

  add(node, path, how, { certain = true, origin, loose = "", handles = [] } = {}) {
    const start = node.getStart(this.file);
    const { line, character } = this.file.getLineAndCharacterOfPosition(start);
    // Columns count characters, not the halves of which JavaScript makes some.
    const column = [...this.file.text.slice(start - character, start)].length + 1;
    const from = origin ? this.line(origin) : 0;
    // A branch is told by the name of what it is for, without what that stands in.
    const short = [...new Set(handles.map((each) => each.slice(each.lastIndexOf(".") + 1)))];
    const use = { line: line + 1, column, path, how, certain, origin: from === line + 1 ? 0 : from, loose, handles: short };
    const key = `${use.line} ${use.column} ${path} ${how} ${certain} ${short}`;
    if (!this.uses.has(key)) this.uses.set(key, use);
  }

  visit(node) {
    this.one(node);
    this.ts.forEachChild(node, (child) => this.visit(child));
  }

  one(node) {
    const { ts } = this;
    if (ts.isImportSpecifier(node) || ts.isExportSpecifier(node)) this.specifier(node);
    else if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier) this.imports(node);
    else if (ts.isPropertyAccessExpression(node)) this.access(node, node.name, [node.name.text], node.expression);
    else if (ts.isElementAccessExpression(node)) this.element(node);
    else if (ts.isIdentifier(node)) this.identifier(node);
    else if (ts.isBindingElement(node)) this.binding(node);
    else if (ts.isObjectLiteralExpression(node)) this.object(node);
    else if (ts.isCallExpression(node)) this.call(node);
    else if (ts.isBinaryExpression(node)) this.binary(node);
    else if (ts.isStringLiteralLike(node)) this.text(node);
    else if (ts.isIndexedAccessTypeNode(node)) this.indexedType(node);
    else if (ts.isTypeReferenceNode(node)) this.typeArguments(node);
    else if (ts.isClassDeclaration(node) || ts.isClassExpression(node)) this.implementation(node);
  }

  // -- names

  // The .proto whose generated code is imported.
  imports(node) {
    const file = this.meanings.protos.get(this.program.getResolvedModuleFromModuleSpecifier(node.moduleSpecifier)?.resolvedModule?.resolvedFileName);
    if (file) this.add(node, file, node.importClause?.isTypeOnly ? "type_only" : "import");
  }

  specifier(node) {
    const { ts } = this;
    const declaration = node.parent.parent.parent ?? node.parent.parent;
    const only = node.isTypeOnly || node.parent.parent.isTypeOnly || declaration.isTypeOnly;
    for (const { kind, path } of this.meanings.at(node.propertyName ?? node.name)) {
      if (kind !== "message" && kind !== "enum" && kind !== "service") continue;
      this.imported.add(path);
      this.add(node, path, only ? "type_only" : "import");
    }
  }

  identifier(node) {
    const { ts } = this;
    const { parent } = node;
    if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent) || ts.isImportClause(parent) || ts.isNamespaceImport(parent)) return;
    if (ts.isPropertyAssignment(parent) && parent.name === node) return;
    const symbol = ts.isShorthandPropertyAssignment(parent)
      ? this.checker.getShorthandAssignmentValueSymbol(parent)
      : this.checker.getSymbolAtLocation(node);
    const inType = ts.isPartOfTypeNode(node) || ts.isTypeQueryNode(parent) || isInHeritage(ts, node);
    for (const { kind, path } of this.meanings.of(symbol)) {
      if (kind === "enum" || kind === "service") {
        if (inType) this.add(node, path, "type_only");
        else if (!(ts.isPropertyAccessExpression(parent) && parent.expression === node)) this.add(node, path, "read");
      } else if (kind === "message") {
        this.add(node, path, inType ? "type_only" : this.ofSchema(node));
      }
    }
  }

  // What is done with the message whose schema an identifier names.
  ofSchema(node) {
    const { ts } = this;
    let at = node;
    if (ts.isPropertyAccessExpression(at.parent) && at.parent.name === at) at = at.parent;
    const { parent } = at;
    if (ts.isPropertyAccessExpression(parent) && parent.expression === at) return parent.name.text === "typeName" ? "call" : "read";
    if (ts.isCallExpression(parent) && parent.arguments.includes(at)) {
      const name = calledName(ts, parent);
      if (name === "create") return "construct";
      if (SERIALIZING.has(name)) return "write";
    }
    return "read";
  }

  // -- properties and items

  element(node) {
    const { ts } = this;
    const argument = node.argumentExpression;
    const receiver = this.meanings.type(node.expression);
    const declared = this.enumObject(node.expression);
    if (declared.length) {
      for (const path of declared) {
        const { members, numbers } = this.tables.enums[path];
        const key = argument.text ?? "";
        const named = ts.isNumericLiteral(argument) ? numbers[key] : ts.isStringLiteralLike(argument) ? members[key] : undefined;
        for (const value of named ?? []) this.add(argument, value, "enum_value");
      }
      return;
    }
    const texts = this.texts(argument);
    if (texts.length > 1 && this.isEveryName(receiver, texts)) return;
    if (texts.length) {
      const literal = ts.isStringLiteralLike(argument);
      this.access(node, argument, texts, node.expression, literal ? undefined : "reflection");
    } else if (!this.isOwnKey(argument) && this.checker.getTypeAtLocation(argument).flags & (ts.TypeFlags.StringLike | ts.TypeFlags.TypeParameter | ts.TypeFlags.Any)) {
      for (const message of this.meanings.messages(receiver)) {
        for (const paths of Object.values(this.tables.messages[message].fields)) {
          for (const path of paths) this.add(argument, path, "reflection", { certain: false });
        }
      }
    }
  }

  // Whether a name comes from the object's own keys: `for (const key in order)`, `Object.keys(order).map((key) => ...)`.
  isOwnKey(node) {
    const { ts } = this;
    const declaration = this.meanings.declaration(node);
    if (!declaration) return false;
    const around = declaration.parent?.parent;
    if (around && ts.isForInStatement(around)) return true;
    const over = around && ts.isForOfStatement(around) ? around.expression : ts.isParameter(declaration) && around && ts.isCallExpression(around) ? around.expression.expression : undefined;
    return over !== undefined && ts.isCallExpression(over) && calledName(ts, over) === "keys";
  }

  // Whether an item is taken by any name that there is: such code follows the contract.
  isEveryName(type, texts) {
    return this.checker.getPropertiesOfType(type).every((symbol) => texts.includes(symbol.name));
  }

  // The texts that an expression may be.
  texts(node) {
    const type = this.checker.getTypeAtLocation(node);
    const parts = this.meanings.parts(type);
    if (parts.length && parts.every((part) => part.isStringLiteral())) return parts.map((part) => part.value);
    const constraint = this.checker.getBaseConstraintOfType(type);
    return constraint && constraint !== type && this.meanings.parts(constraint).every((part) => part.isStringLiteral())
      ? this.meanings.parts(constraint).map((part) => part.value)
      : [];
  }

  // The enums that an expression is the object of: State in State.OPEN.
  enumObject(node) {
    const { ts } = this;
    if (!ts.isIdentifier(node) && !ts.isPropertyAccessExpression(node)) return [];
    const entries = this.meanings.at(ts.isPropertyAccessExpression(node) ? node.name : node);
    return entries.filter((entry) => entry.kind === "enum").map((entry) => entry.path);
  }

  access(node, name, texts, expression, forced) {
    const { ts } = this;
    const direct = ts.isPropertyAccessExpression(node) ? this.meanings.at(name) : [];
    const type = direct.length ? undefined : this.meanings.type(expression);
    for (const text of texts) {
      const found = direct.length ? direct : this.meanings.property(type, text);
      for (const { kind, path } of found) {
        if (kind === "field") {
          const how = forced ?? this.how(node);
          this.add(name, path, how, { loose: this.loose(node) });
          if (how === "write") this.assigned(node, name, path);
        } else if (kind === "oneof") {
          const how = this.how(node);
          this.add(name, path, how === "write" ? "write" : this.isCase(node) ? "which_oneof" : "read");
          if (how === "write" && ts.isBinaryExpression(node.parent)) this.oneofValue(node.parent.right, [path]);
        } else if (kind === "case") this.add(name, path, "which_oneof");
        else if (kind === "value") this.add(name, path, "enum_value");
        else if (kind === "method") this.add(name, path, "call");
        else if (kind === "json") this.add(name, path, "json_name");
        else if (kind === "field_descriptor") this.add(name, path, this.ofDescriptor(node));
      }
      if (this.validates && OF_VIOLATIONS.has(text) && !found.length) this.add(name, "violation", "rule_id");
      if (!found.length) this.loosely(node, name, text, expression);
    }
  }

  // A name on a receiver of unknown type: a key of a message's JSON, or of whatever a parameter may be.
  loosely(node, name, text, expression) {
    const { ts } = this;
    const holders = this.meanings.json(expression);
    for (const message of holders) {
      for (const path of Object.keys(this.tables.messages[message]?.json[text] ?? {})) this.add(name, path, "json_name");
    }
    if (holders.length || !ts.isIdentifier(expression)) return;
    const declaration = this.meanings.declaration(expression);
    if (!declaration || !ts.isParameter(declaration)) return;
    if (!(this.checker.getTypeAtLocation(expression).flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown))) return;
    const given = this.givenTo(declaration);
    const known = given.flatMap((type) => this.meanings.property(type, text)).filter((entry) => entry.kind === "field");
    for (const { path } of known) this.add(name, path, this.how(node));
    if (known.length || given.length) return;
    for (const message of this.imported) {
      for (const path of this.tables.messages[message]?.fields[text] ?? []) this.add(name, path, this.how(node), { certain: false });
    }
  }

  // The types of what a file's own calls give to a parameter; none where nothing calls the function, or only with unknowns.
  givenTo(parameter) {
    const { ts, checker } = this;
    const owner = parameter.parent;
    const at = owner.parameters.indexOf(parameter);
    const named = owner.name ?? (ts.isVariableDeclaration(owner.parent) ? owner.parent.name : undefined);
    const symbol = named && checker.getSymbolAtLocation(named);
    if (!symbol) return [];
    this.calls ??= collect(ts, this.file, ts.isCallExpression);
    return this.calls
      .filter((call) => checker.getSymbolAtLocation(call.expression) === symbol && call.arguments[at])
      .map((call) => this.meanings.type(call.arguments[at]))
      .filter((type) => !(type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)));
  }

  isCase(node) {
    const { ts } = this;
    const { parent } = node;
    return ts.isPropertyAccessExpression(parent) && parent.expression === node && parent.name.text === "case";
  }

  ofDescriptor(node) {
    const { ts } = this;
    const name = ts.isCallExpression(node.parent) ? calledName(ts, node.parent) : "";
    return name === "isFieldSet" ? "has" : name === "clearField" ? "clear" : "reflection";
  }

  // Whether a field is read, written, cleared or asked whether it is set: also through its items, fields or methods.
  how(node) {
    const { ts } = this;
    let child = node;
    for (let { parent } = node; ; { parent } = child) {
      if (isTarget(ts, child)) return "write";
      if (ts.isDeleteExpression(parent)) return child === node ? "clear" : "write";
      if (ts.isNonNullExpression(parent) || ts.isParenthesizedExpression(parent) || ts.isAsExpression(parent)) {
        child = parent;
      } else if ((ts.isPropertyAccessExpression(parent) || ts.isElementAccessExpression(parent)) && parent.expression === child) {
        if (ts.isPropertyAccessExpression(parent) && ts.isCallExpression(parent.parent) && parent.parent.expression === parent) {
          if (CHANGING.has(parent.name.text)) return "write";
          break;
        }
        child = parent;
      } else break;
    }
    return this.asksPresence(node) ? "has" : "read";
  }

  asksPresence(node) {
    const { ts } = this;
    let top = node;
    for (;;) {
      const { parent } = top;
      if (ts.isParenthesizedExpression(parent)) top = parent;
      else if ((ts.isPropertyAccessExpression(parent) || ts.isElementAccessExpression(parent) || ts.isCallExpression(parent)) && parent.expression === top) {
        // `a?.b.c() ?? d` asks it of a; `a.b ?? d` asks it of b alone.
        if (!ts.isOptionalChain(parent)) return false;
        top = parent;
      } else break;
    }
    const { parent } = top;
    if (ts.isBinaryExpression(parent)) {
      const kind = parent.operatorToken.kind;
      if (kind === ts.SyntaxKind.QuestionQuestionToken || kind === ts.SyntaxKind.QuestionQuestionEqualsToken) return parent.left === top;
      return isEquality(ts, kind) && isAbsent(ts, parent.left === top ? parent.right : parent.left);
    }
    if (ts.isTypeOfExpression(parent) && ts.isBinaryExpression(parent.parent)) {
      return [parent.parent.left, parent.parent.right].some((side) => ts.isStringLiteralLike(side) && side.text === "undefined");
    }
    return false;
  }

  // Whether there is an answer to every value: a switch with a default that does not throw, a lookup with something in the
  // place of what it does not find, a question whether a list or a set has it.
  isHandled(node) {
    const { ts } = this;
    const { parent } = node;
    if (ts.isSwitchStatement(parent)) {
      const otherwise = parent.caseBlock.clauses.find(ts.isDefaultClause);
      return parent.expression === node && otherwise !== undefined && !failing(ts, otherwise.statements);
    }
    if (ts.isElementAccessExpression(parent)) return parent.argumentExpression === node && hasAnswer(ts, parent);
    if (!ts.isCallExpression(parent) || parent.arguments[0] !== node || !ts.isPropertyAccessExpression(parent.expression)) return false;
    const name = parent.expression.name.text;
    return name === "includes" || name === "has" || (name === "get" && hasAnswer(ts, parent));
  }

  // Where a value of any type would do, so that a type checker says nothing of another type: in a text, or in JSON.
  loose(node) {
    const { ts } = this;
    let child = node;
    let { parent } = child;
    while (ts.isParenthesizedExpression(parent) || ts.isNonNullExpression(parent)) [child, parent] = [parent, parent.parent];
    if (this.isHandled(child)) return "handled";
    if (ts.isTemplateSpan(parent)) return "text";
    if (ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.PlusToken) return "text";
    for (let at = node.parent; at && !ts.isStatement(at); at = at.parent) {
      if (!ts.isCallExpression(at)) continue;
      const name = calledName(ts, at);
      if (name === "stringify") return "json";
      if (TO_TEXT.has(name) && at.arguments.includes(child)) return "text";
      if (isConsole(ts, at)) return "text";
      if (ts.isPropertyAccessExpression(at.expression) && at.expression.expression === node && name === "toString") return "text";
      if (at.arguments.includes(child)) break;
    }
    const context = ts.isExpression(child) ? this.checker.getContextualType(child) : undefined;
    return context && context.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown) ? "any" : "";
  }

  assigned(node, name, path) {
    const { ts } = this;
    const { parent } = node;
    if (ts.isBinaryExpression(parent) && parent.left === node) this.value(name, path, parent.right, parent.operatorToken.kind === ts.SyntaxKind.EqualsToken);
    else this.value(name, path, undefined, false);
  }

  // What is written into a field: literals, or null where nobody knows.
  value(name, path, expression, known = true) {
    const literals = known && expression ? literalsOf(this.ts, this.checker, this.meanings, expression) : null;
    this.values.push({ line: this.line(name), path, literals });
  }

  binding(node) {
    const name = node.propertyName ?? node.name;
    const holders = this.meanings.binding(node);
    for (const { kind, path } of holders) {
      if (kind === "field") this.add(name, path, node.initializer ? "has" : "read");
      else if (kind === "oneof") this.add(name, path, "read");
      else if (kind === "case") this.add(name, path, "which_oneof");
      else if (kind === "method") this.add(name, path, "call");
      else if (kind === "json") this.add(name, path, "json_name");
      else if (kind === "value") this.add(name, path, "enum_value");
    }
    const declaration = node.parent.parent;
    if (holders.length || !this.ts.isVariableDeclaration(declaration) || !declaration.initializer || !this.ts.isIdentifier(name)) return;
    for (const message of this.meanings.json(declaration.initializer)) {
      for (const path of Object.keys(this.tables.messages[message]?.json[name.text] ?? {})) this.add(name, path, "json_name");
    }
  }

  // -- calls

  call(node) {
    const { ts, checker } = this;
    const name = calledName(ts, node);
    if ((name === "create" || name === "fromJson") && node.arguments.length === 2) this.initial(node.arguments[1], this.meanings.schema(node.arguments[0]), name);
    if (name === "create" && node.arguments.length === 1) {
      for (const message of this.meanings.schema(node.arguments[0])) this.constructs.push({ line: this.line(node), message, fields: [], open: false });
    }
    // Names of fields given as texts to a function that takes keys of a message.
    const signature = checker.getResolvedSignature(node);
    signature?.parameters?.forEach((parameter, at) => {
      const argument = node.arguments[at];
      if (argument && ts.isStringLiteralLike(argument)) this.keyOf(node, argument, parameter.valueDeclaration?.type);
    });
  }

  keyOf(call, argument, type) {
    const { ts, checker } = this;
    if (!type) return;
    if (ts.isTypeReferenceNode(type)) {
      const declaration = checker.getSymbolAtLocation(type.typeName)?.declarations?.[0];
      if (declaration && ts.isTypeParameterDeclaration(declaration)) this.keyOf(call, argument, declaration.constraint);
    } else if (ts.isTypeOperatorNode(type) && type.operator === ts.SyntaxKind.KeyOfKeyword) {
      const holder = this.givenAs(call, type.type) ?? checker.getTypeFromTypeNode(type.type);
      for (const { kind, path } of this.meanings.property(holder, argument.text)) {
        if (kind === "field" || kind === "oneof") this.add(argument, path, "reflection");
      }
    }
  }

  // The type that a call gives to a type parameter, by the argument in the place of a parameter of that type.
  givenAs(call, node) {
    const { ts, checker } = this;
    if (!ts.isTypeReferenceNode(node)) return undefined;
    const wanted = checker.getSymbolAtLocation(node.typeName);
    const at = (checker.getResolvedSignature(call)?.parameters ?? []).findIndex((parameter) => {
      const type = parameter.valueDeclaration?.type;
      return type && ts.isTypeReferenceNode(type) && checker.getSymbolAtLocation(type.typeName) === wanted;
    });
    return at >= 0 && call.arguments[at] ? this.meanings.type(call.arguments[at]) : undefined;
  }

  // -- comparisons and texts

  binary(node) {
    const { ts } = this;
    const kind = node.operatorToken.kind;
    if (kind === ts.SyntaxKind.InKeyword && ts.isStringLiteralLike(node.left)) {
      for (const { kind: what, path } of this.meanings.property(this.meanings.type(node.right), node.left.text)) {
        if (what === "field") this.add(node.left, path, "has");
      }
      for (const message of this.meanings.json(node.right)) {
        for (const path of Object.keys(this.tables.messages[message]?.json[node.left.text] ?? {})) this.add(node.left, path, "json_name");
      }
    }
    if (!isEquality(ts, kind)) return;
    this.compared(node.left, node.right);
    this.compared(node.right, node.left);
  }

  // A literal (or a constant) beside what it is compared with.
  compared(literal, other) {
    const { ts, checker } = this;
    const bare = this.meanings.bare(literal);
    const type = checker.getTypeAtLocation(bare);
    const origin = ts.isIdentifier(bare) ? this.originOf(bare) : undefined;
    if (type.isStringLiteral()) {
      for (const oneof of this.meanings.oneofs(other)) {
        for (const path of this.tables.oneofs[oneof]?.[type.value] ?? []) this.add(literal, path, "which_oneof", { origin });
      }
      for (const [table, enums] of [["members", this.namesOf(other)], ["values", this.jsonEnums(other)]]) {
        for (const path of enums) for (const value of this.tables.enums[path]?.[table][type.value] ?? []) this.add(literal, value, "enum_value", { origin });
      }
    } else if (type.isNumberLiteral() && !(type.flags & ts.TypeFlags.EnumLike)) {
      for (const path of this.meanings.enums(this.meanings.declared(other))) {
        for (const value of this.tables.enums[path].numbers[type.value] ?? []) this.add(literal, value, "enum_value", { origin });
      }
    }
  }

  // The enums whose members' names an expression gives: State[order.state].
  namesOf(node) {
    const bare = this.meanings.bare(node);
    return this.ts.isElementAccessExpression(bare) ? this.enumObject(bare.expression) : [];
  }

  // The enums whose values' names stand under a key of JSON.
  jsonEnums(node) {
    const bare = this.meanings.bare(node);
    const value = this.meanings.initializer(bare) ?? bare;
    const key = this.meanings.key(this.meanings.bare(value));
    if (!key) return [];
    return this.meanings
      .json(this.meanings.bare(value).expression)
      .flatMap((message) => Object.values(this.tables.messages[message]?.json[key.text] ?? {}))
      .filter((inner) => inner in this.tables.enums);
  }

  text(node) {
    const { ts } = this;
    if (ts.isExpressionStatement(node.parent) || ts.isImportDeclaration(node.parent) || ts.isExportDeclaration(node.parent)) return;
    for (const name of this.names) {
      const at = node.text.indexOf(name);
      if (at >= 0 && !/[\w.]/.test(node.text[at - 1] ?? "") && !/[\w.]/.test(node.text[at + name.length] ?? "")) this.add(node, name, "reflection");
    }
  }

  // -- types

  indexedType(node) {
    const { ts, checker } = this;
    if (!ts.isLiteralTypeNode(node.indexType) || !ts.isStringLiteralLike(node.indexType.literal)) return;
    for (const { kind, path } of this.meanings.property(checker.getTypeFromTypeNode(node.objectType), node.indexType.literal.text)) {
      if (kind === "field" || kind === "oneof" || kind === "case") this.add(node.indexType, path, "type_only");
    }
  }

  // Pick<Order, "coupon" | "id">
  typeArguments(node) {
    const { ts, checker } = this;
    const [first, ...rest] = node.typeArguments ?? [];
    if (!first || !rest.length) return;
    const type = checker.getTypeFromTypeNode(first);
    for (const literal of rest.flatMap((each) => collect(ts, each, ts.isLiteralTypeNode))) {
      if (!ts.isStringLiteralLike(literal.literal)) continue;
      for (const { kind, path } of this.meanings.property(type, literal.literal.text)) {
        if (kind === "field" || kind === "oneof") this.add(literal, path, "type_only");
      }
    }
  }

  // class Server implements ServiceImpl<typeof Shop>
  implementation(node) {
    const { ts, checker } = this;
    for (const clause of node.heritageClauses ?? []) {
      for (const each of clause.types) {
        const type = checker.getTypeAtLocation(each);
        for (const member of node.members) {
          if (!member.name || !ts.isIdentifier(member.name)) continue;
          for (const { kind, path } of this.meanings.property(type, member.name.text)) if (kind === "method") this.add(member.name, path, "subclass");
        }
      }
    }
  }
}

Object.assign(Finder.prototype, initializers);
