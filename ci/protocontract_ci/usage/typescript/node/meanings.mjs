// What symbols, types and expressions mean: which elements of the contracts they are.
import { calledName, isConst } from "./syntax.mjs";

export class Meanings {
  constructor(ts, checker, lines, tables) {
    this.ts = ts;
    this.checker = checker;
    this.lines = lines;
    this.tables = tables;
    // The .proto files by the names of the files of their declarations.
    this.protos = new Map([...lines.keys()].map((name) => [name, name.replace(/^\/__contract__\/all\/|\.d\.ts$/g, "")]));
  }

  // The entries of a symbol: kind, path and, for a case of a oneof, its field.
  of(symbol) {
    if (!symbol) return [];
    const { ts, checker } = this;
    if (symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
    const found = [];
    const origin = symbol.links?.syntheticOrigin;
    for (const declaration of symbol.declarations ?? origin?.declarations ?? []) {
      const file = declaration.getSourceFile();
      const entries = this.lines.get(file.fileName);
      if (!entries) continue;
      const line = file.getLineAndCharacterOfPosition(declaration.getStart(file)).line + 1;
      for (const entry of entries.get(line) ?? []) {
        if (!found.some((each) => each.kind === entry.kind && each.path === entry.path && each.field === entry.field)) found.push(entry);
      }
    }
    return found;
  }

  at(node) {
    return this.of(this.checker.getSymbolAtLocation(node));
  }

  // The property of a type, with every member of a union looked at.
  property(type, name) {
    const found = [];
    for (const each of this.parts(type)) {
      const symbol = this.checker.getPropertyOfType(this.checker.getApparentType(each), name);
      for (const entry of this.of(symbol)) {
        if (!found.some((other) => other.kind === entry.kind && other.path === entry.path && other.field === entry.field)) found.push(entry);
      }
    }
    return found;
  }

  parts(type) {
    return type?.isUnion?.() ? type.types : type ? [type] : [];
  }

  // Whether anything of a contract is a property of the type.
  isOfContract(type) {
    return this.parts(type).some((each) => this.checker.getPropertiesOfType(each).some((symbol) => this.of(symbol).length));
  }

  // The enums that a type's values are of.
  enums(type) {
    const { ts, checker } = this;
    const found = new Set();
    for (const part of this.parts(type)) {
      if (!(part.flags & ts.TypeFlags.EnumLike)) continue;
      const symbol = part.symbol && part.symbol.flags & ts.SymbolFlags.EnumMember ? checker.getBaseTypeOfLiteralType(part).symbol : part.symbol;
      for (const entry of this.of(symbol)) if (entry.kind === "enum") found.add(entry.path);
    }
    return [...found];
  }

  // The messages that a type is of: by the declaration of $typeName, whose literal type is the full name.
  messages(type) {
    const { checker, tables } = this;
    const found = new Set();
    for (const part of this.parts(type)) {
      const symbol = checker.getPropertyOfType(part, "$typeName");
      if (!symbol) continue;
      for (const name of this.parts(checker.getTypeOfSymbol(symbol))) {
        if (name.isStringLiteral() && name.value in tables.messages) found.add(name.value);
      }
    }
    return [...found];
  }

  // The expression without parentheses, casts and assertions: `(order as any)!` is `order`.
  bare(node) {
    const { ts } = this;
    while (
      ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isNonNullExpression(node) ||
      ts.isSatisfiesExpression(node) || ts.isTypeAssertionExpression(node) || ts.isAwaitExpression(node)
    ) {
      node = node.expression;
    }
    return node;
  }

  // The type of what stands there before a cast to any hid it.
  type(node) {
    const { ts, checker } = this;
    const type = checker.getTypeAtLocation(node);
    if (!(type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) && !this.isLoose(type)) return type;
    if (ts.isAwaitExpression(node)) return type;
    const bare = this.bare(node);
    if (bare !== node) return this.type(bare);
    const value = this.initializer(node);
    return value && value !== node ? this.type(value) : type;
  }

  // A dictionary type that a message was cast to.
  isLoose(type) {
    return this.checker.getPropertiesOfType(type).length === 0 && this.checker.getIndexInfosOfType(type).length > 0;
  }

  // What a constant was made from; undefined where it is no constant.
  initializer(node) {
    const { ts } = this;
    const declaration = this.declaration(node);
    if (declaration && ts.isVariableDeclaration(declaration) && declaration.initializer && isConst(ts, declaration)) return declaration.initializer;
    if (declaration && ts.isPropertyAssignment(declaration)) return declaration.initializer;
    return undefined;
  }

  declaration(node) {
    const { ts, checker } = this;
    if (!ts.isIdentifier(node) && !ts.isPropertyAccessExpression(node)) return undefined;
    let symbol = checker.getSymbolAtLocation(ts.isIdentifier(node) ? node : node.name);
    if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
    return symbol?.valueDeclaration;
  }

  // The oneofs whose case an expression is ("case"), or which it is itself ("oneof").
  oneofs(node, depth = 0) {
    const { ts, checker } = this;
    const bare = this.bare(node);
    const paths = (entries) => [...new Set(entries.filter((each) => each.kind === "case" || each.kind === "oneof").map((each) => each.path))];
    let found = [];
    if (ts.isPropertyAccessExpression(bare)) {
      found = paths(this.at(bare.name));
      if (!found.length) found = paths(this.property(this.declared(bare.expression), bare.name.text));
    } else if (ts.isElementAccessExpression(bare) && ts.isStringLiteralLike(bare.argumentExpression)) {
      found = paths(this.property(checker.getTypeAtLocation(bare.expression), bare.argumentExpression.text));
    } else if (ts.isIdentifier(bare)) {
      const declaration = this.declaration(bare);
      if (declaration && ts.isBindingElement(declaration)) found = paths(this.binding(declaration));
      else if (declaration && ts.isVariableDeclaration(declaration) && declaration.initializer && depth < 5) {
        found = this.oneofs(declaration.initializer, depth + 1);
      }
    }
    return found.length ? found : this.casesOf(ts.isIdentifier(bare) ? this.declared(bare) : checker.getTypeAtLocation(bare));
  }

  // The type as declared, before what surrounds an expression narrowed it.
  declared(node) {
    const { ts, checker } = this;
    const symbol = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : ts.isPropertyAccessExpression(node) ? checker.getSymbolAtLocation(node.name) : undefined;
    return symbol ? checker.getTypeOfSymbolAtLocation(symbol, symbol.valueDeclaration ?? node) : checker.getTypeAtLocation(node);
  }

  // The oneofs whose cases are exactly the texts of a type, or whose union a type is.
  casesOf(type) {
    const parts = this.parts(type).filter((part) => !(part.flags & (this.ts.TypeFlags.Undefined | this.ts.TypeFlags.Null)));
    const found = new Set();
    for (const part of parts) {
      for (const entry of this.of(this.checker.getPropertyOfType(part, "case"))) if (entry.kind === "case") found.add(entry.path);
    }
    if (found.size) return [...found];
    if (parts.length < 2 || !parts.every((part) => part.isStringLiteral())) return [];
    const texts = parts.map((part) => part.value).sort().join(" ");
    return Object.entries(this.tables.oneofs).filter(([, cases]) => Object.keys(cases).sort().join(" ") === texts).map(([path]) => path);
  }

  // What a name in a destructuring pattern stands for.
  binding(element) {
    const { ts, checker } = this;
    if (!ts.isObjectBindingPattern(element.parent) || element.dotDotDotToken) return [];
    const name = element.propertyName ?? element.name;
    if (!ts.isIdentifier(name) && !ts.isStringLiteralLike(name)) return [];
    const parent = element.parent.parent;
    const source = ts.isVariableDeclaration(parent) && parent.initializer ? this.type(parent.initializer) : checker.getTypeAtLocation(element.parent);
    return this.property(source, name.text);
  }

  // The messages whose JSON an expression is.
  json(node, depth = 0) {
    const { ts } = this;
    const bare = this.bare(node);
    if (depth > 8) return [];
    if (ts.isCallExpression(bare)) {
      const name = calledName(ts, bare);
      if ((name === "toJson" || name === "toJsonString") && bare.arguments.length) return this.schema(bare.arguments[0]);
      if ((name === "parse" || name === "stringify") && bare.arguments.length) return this.json(bare.arguments[0], depth + 1);
      return [];
    }
    const key = this.key(bare);
    if (key !== undefined) {
      const holders = this.json(bare.expression, depth + 1);
      if (/^\d+$/.test(key.text)) return holders;
      return holders.flatMap((message) => Object.values(this.tables.messages[message]?.json[key.text] ?? {})).filter((inner) => inner in this.tables.messages);
    }
    if (ts.isElementAccessExpression(bare)) return this.json(bare.expression, depth + 1);
    const value = this.initializer(bare);
    return value ? this.json(value, depth + 1) : [];
  }

  // The text by which a property or an item is taken, with the node that names it.
  key(node) {
    const { ts } = this;
    if (ts.isPropertyAccessExpression(node)) return { text: node.name.text, node: node.name };
    if (ts.isElementAccessExpression(node) && (ts.isStringLiteralLike(node.argumentExpression) || ts.isNumericLiteral(node.argumentExpression))) {
      return { text: node.argumentExpression.text, node: node.argumentExpression };
    }
    return undefined;
  }

  // The messages of a schema given as an argument.
  schema(node) {
    return this.at(nameOf(this.ts, node)).filter((entry) => entry.kind === "message").map((entry) => entry.path);
  }
}

function nameOf(ts, node) {
  return ts.isPropertyAccessExpression(node) ? node.name : node;
}
