// A page on which one marks the entities of a text. What is marked is held to the contract while one works, and the words
// and codes of what is wrong are the contract's own; only a sample that keeps it can be saved.
import { toBinary } from "@bufbuild/protobuf";
import { entityOf, mark, newDraft, pieces, place, rewrite } from "./draft.js";
import { textSample } from "./gen/acme/text/v1/text_contract.js";
import { TextSampleSchema } from "./gen/acme/text/v1/text_pb.js";
import type { Violation } from "./gen/protocontract/v1/violation.js";

const LABELS = ["PERSON", "LOCATION", "ORGANIZATION"] as const;

/** Builds the form inside of an element. `save` stores a record, and rejects where it cannot. */
export function mount(root: HTMLElement, save: (record: Uint8Array<ArrayBuffer>) => Promise<void>): void {
  let draft = newDraft();
  let touched = false;

  const text = element("textarea", { id: "text", rows: 5, spellcheck: false, placeholder: "Paste or type a text" });
  const preview = element("p", { className: "preview", ariaLabel: "The marked text" });
  const textProblems = element("ul", { className: "problems" });
  const entities = element("ol", { className: "entities" });
  const count = element("span", { className: "count" });
  const status = element("p", { className: "status", role: "status" });
  const button = element("button", { className: "save", type: "button", textContent: "Save" });
  const buttons = LABELS.map((label) => {
    const each = element("button", { type: "button", textContent: title(label) });
    each.dataset["label"] = label;
    each.addEventListener("click", () => {
      if (text.selectionStart === text.selectionEnd) return say("Select a stretch of the text first.");
      touched = true;
      mark(draft, text.selectionStart, text.selectionEnd, label);
      text.focus();
      return show(true);
    });
    // The selection stays where it is.
    each.addEventListener("mousedown", (event) => event.preventDefault());
    return each;
  });

  text.addEventListener("input", () => {
    touched = true;
    rewrite(draft, text.value);
    show(true);
  });
  button.addEventListener("click", () => void store());

  root.replaceChildren(
    element("h1", { textContent: "Annotate a text" }),
    element("p", { className: "contract", textContent: `${textSample.fullName} ${textSample.version}` }),
    element("label", { htmlFor: "text", textContent: "Text" }),
    text,
    group("labels", element("span", { textContent: "Mark the selection as" }), ...buttons),
    textProblems,
    preview,
    group("heading", element("h2", { textContent: "Entities" }), count),
    entities,
    group("foot", status, button),
  );
  show(true);

  /** Shows the draft and what the contract says of it. `rows`: also the rows of entities anew. */
  function show(rows: boolean): void {
    const outcome = textSample.process(draft);
    const shown = touched ? outcome.violations : [];
    if (rows) entities.replaceChildren(...draft.entities.map((_, index) => row(index)));
    Array.from(entities.children).forEach((each, index) => {
      const own = shown.filter((violation) => entityOf(violation) === index);
      each.classList.toggle("broken", own.length > 0);
      each.querySelector(".surface")?.replaceChildren(draft.entities[index]?.text ?? "");
      each.querySelector(".problems")?.replaceChildren(...own.map(problem));
    });
    textProblems.replaceChildren(...shown.filter((each) => entityOf(each) === undefined).map(problem));
    preview.replaceChildren(...pieces(draft).map(drawn));
    preview.hidden = draft.rawText === "";
    count.textContent = String(draft.entities.length);
    button.disabled = !outcome.ok;
    const problems = shown.length === 1 ? "1 problem" : `${shown.length} problems`;
    const changes = outcome.changes.length > 0 ? ", and will be normalised when it is saved" : "";
    say(outcome.ok ? `Keeps the contract${changes}.` : touched ? `${problems}: not to be saved yet.` : "");
    status.classList.toggle("ok", outcome.ok);
  }

  function row(index: number): HTMLElement {
    const entity = draft.entities[index];
    const start = offset("start", entity?.startOffset ?? 0);
    const end = offset("end", entity?.endOffset ?? 0);
    for (const each of [start, end]) {
      each.addEventListener("input", () => {
        place(draft, index, start.valueAsNumber || 0, end.valueAsNumber || 0);
        show(false);
      });
    }
    const label = element("select", { ariaLabel: `Label of entity ${index + 1}` });
    label.append(...LABELS.map((each) => element("option", { value: each, textContent: title(each) })));
    label.value = entity?.label ?? "";
    label.addEventListener("change", () => {
      if (entity !== undefined) entity.label = label.value;
      show(true);
    });
    const remove = element("button", { type: "button", className: "remove", textContent: "Remove" });
    remove.addEventListener("click", () => {
      draft.entities.splice(index, 1);
      show(true);
    });
    const made = element("li", { className: (entity?.label ?? "").toLowerCase() });
    made.append(
      element("q", { className: "surface" }),
      group("fields", label, field("from", start), field("to", end), remove),
      element("ul", { className: "problems" }),
    );
    return made;
  }

  async function store(): Promise<void> {
    const { message } = textSample.process(draft);
    if (message === undefined) return;
    button.disabled = true;
    try {
      await save(toBinary(TextSampleSchema, message));
    } catch {
      button.disabled = false;
      return say("Not saved: the server did not take it. Try again.");
    }
    draft = newDraft();
    touched = false;
    text.value = "";
    show(true);
    say("Saved.");
  }

  function drawn(piece: { text: string; entities: readonly number[] }): HTMLElement | string {
    const inner = piece.entities
      .map((index) => draft.entities[index])
      .filter((entity) => entity !== undefined)
      .sort((one, other) => other.endOffset - other.startOffset - (one.endOffset - one.startOffset))
      .pop();
    if (inner === undefined) return piece.text;
    const made = element("mark", { className: inner.label.toLowerCase(), textContent: piece.text });
    made.classList.toggle("nested", piece.entities.length > 1);
    return made;
  }

  function say(what: string): void {
    status.textContent = what;
  }
}

function problem({ message, ruleId, code }: Violation): HTMLElement {
  const made = element("li", { textContent: `${message} ` });
  made.append(element("code", { textContent: `${ruleId} 0x${code.toString(16).padStart(8, "0")}` }));
  return made;
}

function offset(name: string, value: number): HTMLInputElement {
  return element("input", { type: "number", name, step: "1", valueAsNumber: value });
}

function field(name: string, input: HTMLInputElement): HTMLElement {
  const made = element("label", { textContent: `${name} ` });
  made.append(input);
  return made;
}

function group(className: string, ...children: HTMLElement[]): HTMLElement {
  const made = element("div", { className });
  made.append(...children);
  return made;
}

function title(label: string): string {
  return label.charAt(0) + label.slice(1).toLowerCase();
}

function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]>,
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) Reflect.set(made, key, value);
  return made;
}
