// Written by protoc-gen-contract 0.1.0. Do not edit.
// The relation "graph": identities are unique, parents exist, nothing is its own ancestor. Linear time.

import { refusal, type Refusal } from "../refusal.js";

/** What identifies an item. */
export type Identity = string | number | bigint | boolean;

/** The options of one `graph` relation. */
export interface GraphOptions {
  readonly acyclic?: boolean;
  readonly closed?: boolean;
}

/** All breaks by the index of the item; undefined where there are none. `parents` holds a list for each item. */
export type GraphChecker = (
  ids: readonly Identity[],
  parents: readonly (readonly Identity[])[],
) => Refusal[] | undefined;

/** The check with these options. */
export function graphChecker({ acyclic = false, closed = false }: GraphOptions): GraphChecker {
  return (ids, parents) => {
    const places = new Map<Identity, number>();
    const found: Refusal[] = [];
    ids.forEach((name, at) => {
      const first = places.get(key(name));
      if (first === undefined) {
        places.set(key(name), at);
      } else {
        found.push(refusal("graph.duplicate", `an identity that item ${first} has too`, at));
      }
    });
    const edges = parents.map((given, at) => {
      const own = given.map((parent) => places.get(key(parent))).filter((place) => place !== undefined);
      if (closed && own.length < given.length) {
        found.push(refusal("graph.missing", "a parent that is no item; expected one of the list", at));
      }
      return own;
    });
    if (acyclic) {
      for (const at of closing(edges)) {
        found.push(refusal("graph.cycle", "an item that is among its own ancestors", at));
      }
    }
    found.sort((one, other) => (one.index ?? 0) - (other.index ?? 0)); // stable
    return found.length > 0 ? found : undefined;
  };
}

/** Numbers of different types are one identity, as they are one number. */
function key(name: Identity): string | bigint {
  return typeof name === "string" ? name : BigInt(name);
}

/** The items whose edge closes a cycle, in order of discovery: depth first, on a stack of our own. */
function closing(edges: readonly (readonly number[])[]): number[] {
  const done = new Set<number>();
  const open = new Set<number>();
  const walked = new Array<number>(edges.length).fill(0);
  const found = new Set<number>();
  for (let root = 0; root < edges.length; root += 1) {
    if (done.has(root)) {
      continue;
    }
    const stack = [root];
    open.add(root);
    while (stack.length > 0) {
      const at = stack[stack.length - 1] as number;
      const step = walked[at] as number;
      const parent = edges[at]?.[step];
      if (parent === undefined) {
        done.add(at);
        open.delete(at);
        stack.pop();
        continue;
      }
      walked[at] = step + 1;
      if (open.has(parent)) {
        found.add(at);
      } else if (!done.has(parent)) {
        open.add(parent);
        stack.push(parent);
      }
    }
  }
  return [...found];
}
