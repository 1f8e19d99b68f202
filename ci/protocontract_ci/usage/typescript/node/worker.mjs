// The process in which functions of TypeScript modules run: one job on standard input, one answer on standard output.
// It is started without network, without the right to read, write or start anything, and with a limit of memory. The job is
// trusted (the gate wrote it), the module is not: what it could reach outside by is gone before it is loaded.
import { SourceMap, createRequire } from "node:module";
import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import vm from "node:vm";
import { GLOBALS } from "./globals.mjs";

// On the clock: Node.js can bound nothing else, so it is what a busy machine needs.
const MILLISECONDS = 5000;
const TOO_LONG = "ERR_SCRIPT_EXECUTION_TIMEOUT";
// What JavaScript says in a text where another language would have raised.
const MISREAD = /(^|[^\w])(undefined|NaN|Invalid Date|\[object Object\])($|[^\w])/;

const { Buffer } = globalThis;
const require = createRequire(join(process.argv[2], "package.json"));
const libraries = Object.fromEntries(
  ["", "/codegenv2", "/codegenv1", "/wkt", "/reflect", "/wire"].map((path) => [`@bufbuild/protobuf${path}`, require(`@bufbuild/protobuf${path}`)]),
);
const { create, createFileRegistry, fromBinary, isMessage, toBinary } = libraries["@bufbuild/protobuf"];
const { FileDescriptorSetSchema } = libraries["@bufbuild/protobuf/wkt"];
const { tsEnum } = libraries["@bufbuild/protobuf/codegenv2"];
const job = JSON.parse(readFileSync(0, "utf8"));
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, Buffer.from(job.files, "base64")));
const encoded = (bytes) => Buffer.from(bytes).toString("base64");
const exit = process.reallyExit.bind(process);
const loaded = new Map();
const places = new Map();

seal();
let answer;
try {
  timed(() => load(job.path));
  answer = { calls: job.calls.map(callOf()) };
} catch (error) {
  answer = { import: failure(error) };
}
write(JSON.stringify(answer));
// Whatever the module still waits for does not keep the process.
exit(0);

function write(text) {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
}

// The globals of the language and those that compute stay; what prints says nothing.
function seal() {
  for (const name of ["binding", "_linkedBinding", "dlopen", "getBuiltinModule", "mainModule", "kill", "abort", "reallyExit", "exit"]) {
    Object.defineProperty(process, name, { value: undefined });
  }
  for (const name of Object.keys(console)) console[name] = () => {};
  for (const name of Object.getOwnPropertyNames(globalThis)) if (!GLOBALS.has(name) && name !== "globalThis") delete globalThis[name];
}

// Runs a function that ends within the time for one call.
function timed(act) {
  let result;
  globalThis.__act = () => {
    delete globalThis.__act;
    result = act();
  };
  new vm.Script("__act()", { filename: "contract:call" }).runInThisContext({ timeout: MILLISECONDS });
  return result;
}

// -- modules

function load(path) {
  if (loaded.has(path)) return loaded.get(path).exports;
  const { code, map } = job.modules[path];
  const filename = `contract:${loaded.size}`;
  const module = { exports: {} };
  loaded.set(path, module);
  places.set(filename, { path, map: new SourceMap(JSON.parse(map)) });
  // Functions that are not exported can be called, too. On the first line the text is moved, lines are not.
  const names = path === job.path ? job.functions : [];
  const held = names.map((name) => `${name}: () => (typeof ${name} === "undefined" ? exports.${name} : ${name})`);
  const wrapped = `(function (exports, require, module) {${code}\nmodule.functions = { ${held.join(", ")} };\n})`;
  new vm.Script(wrapped, { filename }).runInThisContext()(module.exports, (name) => required(path, name), module);
  return module.exports;
}

function required(path, name) {
  const target = job.modules[path].imports[name];
  if (target?.file) return load(target.file);
  const library = target?.library && libraries[target.library];
  if (library) return library;
  if (target?.proto?.startsWith("google/protobuf/")) return libraries["@bufbuild/protobuf/wkt"];
  if (target?.proto && job.exports[target.proto]) return generated(target.proto);
  throw new ReferenceError("a module that cannot be had here");
}

// What protoc-gen-es would have written for a file. A name that it does not have is refused, as a linker does.
function generated(proto) {
  const held = {};
  for (const [name, [kind, fullName]] of Object.entries(job.exports[proto])) {
    if (kind === "message") held[name] = registry.getMessage(fullName);
    else if (kind === "schema") held[name] = registry.getEnum(fullName);
    else if (kind === "enum") held[name] = tsEnum(registry.getEnum(fullName));
    else if (kind === "service") held[name] = registry.getService(fullName);
    else held[name] = registry.getFile(fullName);
  }
  const get = (target, name) => {
    if (typeof name === "symbol" || name === "__esModule" || name === "default" || name in target) return name === "__esModule" ? true : target[name];
    throw new ReferenceError("a name that the contract does not have");
  };
  return new Proxy(held, { get });
}

// -- calls

// The answer to each call. A function that did not end in time is not called again.
function callOf() {
  const slow = new Set();
  return (call) => {
    const { function: name } = call;
    if (slow.has(name)) return { unfit: "TookTooLong" };
    const given = outcome(call);
    if (given.unfit === "TookTooLong") slow.add(name);
    return given;
  };
}

function outcome({ function: name, full, arguments: specs }) {
  let given;
  try {
    given = specs.map(argument);
  } catch (error) {
    // The message does not exist in this state: not a failure of the module.
    return { unfit: "argument" };
  }
  const act = loaded.get(job.path).functions[name]?.();
  if (typeof act !== "function") return { unfit: "function" };
  const strange = given.some((each) => isMisread(each));
  try {
    const result = timed(() => act(...given));
    if (typeof result?.then === "function") return { unfit: "promise" };
    const wrong = misread(result, full, strange);
    if (wrong) return { error: { class: wrong, lines: [] } };
    return { result: shown(result), arguments: given.map(shown) };
  } catch (error) {
    // How long something takes is the machine's business: no answer.
    if (error?.code === TOO_LONG) return { unfit: "TookTooLong" };
    return { error: failure(error) };
  }
}

function argument({ kind, value, message }) {
  if (kind === "bytes") return new Uint8Array(Buffer.from(value, "base64"));
  if (kind === "messages") return [argument({ kind: "message", value, message })];
  if (kind === "bigint") return BigInt(value);
  if (kind !== "message") return value;
  const schema = registry.getMessage(message);
  return fromBinary(schema, new Uint8Array(Buffer.from(value, "base64")));
}

// JavaScript does not raise where a value is missing: it answers undefined or not a number, and goes on.
function misread(value, full, strange) {
  if (full && (value === undefined || value === null)) return "undefined";
  return !strange && isMisread(value) ? "NaN" : "";
}

function isMisread(value, depth = 0) {
  if (typeof value === "number") return Number.isNaN(value);
  if (typeof value === "string") return MISREAD.test(value);
  if (value instanceof Date) return Number.isNaN(value.getTime());
  if (typeof value !== "object" || value === null || depth > 4 || ArrayBuffer.isView(value)) return false;
  return Object.values(value).some((each) => isMisread(each, depth + 1));
}

// A result so that two can be compared: messages as bytes, everything plain as its text.
function shown(value) {
  if (value === undefined || value === null) return { nothing: true, text: "undefined" };
  if (isMessage(value) && registry.getMessage(value.$typeName)) {
    const schema = registry.getMessage(value.$typeName);
    return { message: value.$typeName, data: encoded(toBinary(schema, create(schema, value))) };
  }
  if (value instanceof Uint8Array) return { bytes: encoded(value) };
  return { text: plain(value) };
}

function plain(value, depth = 0) {
  if (typeof value === "string") return `string ${JSON.stringify(value)}`;
  if (typeof value !== "object" || value === null) return `${typeof value} ${typeof value === "function" ? "" : String(value)}`;
  if (value instanceof Date) return `Date ${value.getTime()}`;
  if (depth > 4) return "object";
  if (Array.isArray(value)) return `array ${JSON.stringify(value.map((each) => plain(each, depth + 1)))}`;
  if (value instanceof Map || value instanceof Set) return `${value.constructor.name} ${JSON.stringify([...value].map((each) => plain(each, depth + 1)))}`;
  return `object ${JSON.stringify(Object.entries(value).map(([key, each]) => [key, plain(each, depth + 1)]))}`;
}

// The error's class and the lines of the module on its way, outermost first; its text may hold data.
function failure(error) {
  const lines = [];
  const stack = typeof error?.stack === "string" ? error.stack : "";
  for (const [, filename, line, column] of stack.matchAll(/(contract:\d+):(\d+):(\d+)/g)) {
    const place = places.get(filename);
    if (place?.path !== job.path) continue;
    const entry = place.map.findEntry(Number(line) - 1, Number(column) - 1);
    if (entry.originalLine !== undefined) lines.unshift(entry.originalLine + 1);
  }
  const name = error instanceof Error ? error.constructor?.name : typeof error;
  return { class: typeof name === "string" && name ? name : "Error", lines };
}
