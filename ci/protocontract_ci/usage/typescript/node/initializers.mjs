// The part of the finder that looks at objects: initializers of messages, what stands in them, JSON and patterns.
import { calledName, isTarget } from "./syntax.mjs";

export const initializers = {
  object(node) {
    const { ts } = this;
    if (isTarget(ts, node)) return this.pattern(node);
    const type = this.checker.getContextualType(node);
    const call = this.callOf(node);
    if (call && calledName(ts, call) === "fromJson") {
      for (const message of this.meanings.schema(call.arguments[0])) this.jsonObject(node, message);
      return undefined;
    }
    if (!type) return undefined;
    const messages = new Set();
    const given = [];
    let open = false;
    for (const property of node.properties) {
      if (ts.isSpreadAssignment(property)) {
        open = this.spread(property, type) || open;
        continue;
      }
      const name = property.name;
      if (!name || !(ts.isIdentifier(name) || ts.isStringLiteralLike(name))) continue;
      const value = ts.isPropertyAssignment(property) ? property.initializer : ts.isShorthandPropertyAssignment(property) ? property.name : undefined;
      for (const { kind, path } of this.meanings.property(type, name.text)) {
        if (kind === "field" || kind === "oneof") {
          this.add(name, path, "construct", { origin: value && this.originOf(value) });
          messages.add(path.slice(0, path.lastIndexOf(".")));
          given.push(path);
          if (kind === "field") this.value(name, path, value);
          else if (value) given.push(...this.oneofValue(value, [path]));
        } else if (kind === "method") this.add(name, path, "subclass");
        else if (kind === "json") this.add(name, path, "json_name");
      }
    }
    for (const name of this.meanings.messages(type)) messages.add(name);
    for (const message of messages) {
      this.add(node, message, "construct");
      this.constructs.push({ line: this.line(node), message, fields: given.filter((path) => path.startsWith(`${message}.`)), open });
    }
    this.case(node, type);
    return undefined;
  },

  // The call whose second argument an object literal is.
  callOf(node) {
    const { parent } = node;
    return this.ts.isCallExpression(parent) && parent.arguments[1] === node ? parent : undefined;
  },

  // `({ coupon } = order)`
  pattern(node) {
    const { ts } = this;
    if (!ts.isBinaryExpression(node.parent)) return;
    const type = this.meanings.type(node.parent.right);
    for (const property of node.properties) {
      if (!property.name || !ts.isIdentifier(property.name)) continue;
      for (const { kind, path } of this.meanings.property(type, property.name.text)) {
        if (kind === "field" || kind === "oneof") this.add(property.name, path, "read");
      }
    }
  },

  // `...rest` in an initializer: its properties are known, or it may hold any of them.
  spread(property, type) {
    const { ts, checker } = this;
    const own = this.meanings.type(property.expression);
    if (own.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown) || this.meanings.isLoose(own)) {
      for (const message of this.meanings.messages(type)) {
        for (const path of Object.values(this.tables.messages[message].fields).flat()) this.add(property, path, "construct", { certain: false });
      }
      return true;
    }
    for (const symbol of checker.getPropertiesOfType(own)) {
      if (this.meanings.of(symbol).length) continue;
      for (const { kind, path } of this.meanings.property(type, symbol.name)) {
        if (kind === "field") this.add(this.here(symbol) ?? property, path, "construct", { origin: property });
      }
    }
    return true;
  },

  here(symbol) {
    const declaration = symbol.valueDeclaration;
    return declaration?.getSourceFile() === this.file ? (declaration.name ?? declaration) : undefined;
  },

  originOf(value) {
    const declaration = this.meanings.declaration(this.meanings.bare(value));
    const constant = declaration && (this.meanings.initializer(this.meanings.bare(value)) ? declaration : undefined);
    return constant?.getSourceFile() === this.file ? constant : undefined;
  },

  // `{ case: "card", value }` given to a oneof.
  oneofValue(value, oneofs) {
    const { ts } = this;
    const bare = this.meanings.bare(value);
    if (ts.isConditionalExpression(bare)) return [...this.oneofValue(bare.whenTrue, oneofs), ...this.oneofValue(bare.whenFalse, oneofs)];
    if (!ts.isObjectLiteralExpression(bare)) return [];
    const property = (name) => bare.properties.find((each) => each.name && ts.isIdentifier(each.name) && each.name.text === name);
    const chosen = property("case");
    if (!chosen || !ts.isPropertyAssignment(chosen) || !ts.isStringLiteralLike(chosen.initializer)) return [];
    const paths = oneofs.flatMap((oneof) => this.tables.oneofs[oneof]?.[chosen.initializer.text] ?? []);
    for (const path of paths) {
      this.add(chosen.initializer, path, "construct");
      const content = property("value");
      this.value(chosen.initializer, path, content && ts.isPropertyAssignment(content) ? content.initializer : undefined);
    }
    return paths;
  },

  // `{ case: "card", value }` where the oneof is what is expected there.
  case(node, type) {
    const oneofs = this.meanings.parts(type).flatMap((part) => this.meanings.property(part, "case")).filter((entry) => entry.kind === "case");
    if (oneofs.length) this.oneofValue(node, [...new Set(oneofs.map((entry) => entry.path))]);
  },

  jsonObject(node, message) {
    const { ts } = this;
    this.add(node, message, "construct");
    for (const property of node.properties) {
      const name = property.name;
      if (!name || !(ts.isIdentifier(name) || ts.isStringLiteralLike(name))) continue;
      for (const [path, inner] of Object.entries(this.tables.messages[message]?.json[name.text] ?? {})) {
        this.add(name, path, "json_name");
        const value = ts.isPropertyAssignment(property) ? this.meanings.bare(property.initializer) : undefined;
        if (!value) continue;
        for (const each of ts.isArrayLiteralExpression(value) ? value.elements : [value]) {
          if (ts.isObjectLiteralExpression(each) && inner in this.tables.messages) this.jsonObject(each, inner);
          if (ts.isStringLiteralLike(each)) for (const one of this.tables.enums[inner]?.values[each.text] ?? []) this.add(each, one, "enum_value");
        }
      }
    }
  },

  // A variable as initializer: its properties are those of the object that it was made from.
  initial(argument, messages, name) {
    const { ts } = this;
    const bare = this.meanings.bare(argument);
    if (ts.isObjectLiteralExpression(bare)) return;
    const value = this.meanings.initializer(bare);
    const made = value && this.meanings.bare(value);
    for (const message of messages) {
      if (name === "create") this.constructs.push({ line: this.line(argument), message, fields: [], open: true });
      if (!made || !ts.isObjectLiteralExpression(made) || made.getSourceFile() !== this.file) continue;
      if (name === "fromJson") {
        this.jsonObject(made, message);
        continue;
      }
      for (const property of made.properties) {
        const text = property.name?.text;
        for (const path of this.tables.messages[message]?.fields[text] ?? []) {
          this.add(property.name, path, "construct", { origin: argument });
          this.value(property.name, path, ts.isPropertyAssignment(property) ? property.initializer : property.name);
        }
      }
    }
  },
};
