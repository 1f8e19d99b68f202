// What code that only computes may name without declaring it: ECMAScript's own globals, and a few that compute as well.
import vm from "node:vm";

const OUTSIDE = new Set(["eval", "Function", "globalThis", "WebAssembly", "SharedArrayBuffer", "Atomics"]);
const COMPUTING = ["console", "TextEncoder", "TextDecoder", "URL", "URLSearchParams", "atob", "btoa", "structuredClone"];

export const GLOBALS = new Set([...vm.runInNewContext("Object.getOwnPropertyNames(globalThis)").filter((name) => !OUTSIDE.has(name)), ...COMPUTING]);
