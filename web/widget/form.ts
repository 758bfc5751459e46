// The form of a canvas: at the start of a conversation, or where a run waits for the visitor.

import type { FormField } from "@easel/engine";
import type { Client, Uploaded } from "./client.ts";
import { make } from "./elements.ts";
import type { Say } from "./words.ts";

type Fields = Record<string, FormField>;

/** FormOf holds the parameters of a form. */
export interface FormOf {
  fields: Fields;
  tips: string;
  /** The word on its button. */
  submit: string;
  say: Say;
  client: Pick<Client, "upload">;
  onDone(inputs: Record<string, unknown>): void;
}

/** Value of a field, read when the form is sent. */
type Read = () => unknown;

/** form draws a form. */
export function form({ fields, tips, submit, say, client, onDone }: FormOf): HTMLFormElement {
  const reads = new Map<string, Read>();
  const rows = Object.entries(fields).flatMap(([name, field]) => {
    if (name.endsWith(argumentsOf) && fields[name.slice(0, -argumentsOf.length)]?.approval) return [];
    const { row, read } = field.approval ? approval(name, field, say) : entry(name, field, say, client);
    reads.set(name, read);
    return [row];
  });
  const send = (event: Event): void => {
    event.preventDefault();
    const inputs = Object.entries(fields).flatMap(([name, field]) => {
      const value = reads.get(name)?.();
      if (value === undefined || (value === "" && field.optional)) return [];
      return [[name, { type: field.type ?? "line", value, ...(field.optional ? { optional: true } : {}) }]];
    });
    onDone(Object.fromEntries(inputs) as Record<string, unknown>);
  };
  return make(
    "form",
    { class: "form", submit: send },
    tips ? make("p", {}, tips) : undefined,
    ...rows,
    make("button", { type: "submit", class: "primary" }, submit),
  );
}

/** argumentsOf is the suffix of fields with changed arguments of an approval; not for visitors. */
const argumentsOf = ":arguments";

let count = 0;

function entry(name: string, field: FormField, say: Say, client: Pick<Client, "upload">): Row {
  const id = `field-${++count}`;
  const kind = (field.type ?? "line").toLowerCase();
  const label = make(
    "label",
    { for: id },
    field.name || name,
    field.optional ? make("small", {}, ` ${say("optional")}`) : undefined,
  );
  const initial = typeof field.value === "string" || typeof field.value === "number" ? String(field.value) : "";
  const required = !field.optional;
  if (kind.includes("file")) return files(id, label, required, say, client);
  if (kind === "boolean" || kind === "switch") {
    const box = make("input", { id, type: "checkbox", checked: field.value === true });
    return { row: make("div", { class: "field check" }, box, label), read: () => box.checked };
  }
  if (kind === "options" || kind === "select") {
    const options = (field.options ?? []).map(String);
    const empty = field.optional || initial === "" ? [make("option", { value: "" })] : [];
    const all = options.map((text) => make("option", { value: text, selected: text === initial }, text));
    const select = make("select", { id, required }, ...empty, ...all);
    return { row: make("div", { class: "field" }, label, select), read: () => select.value };
  }
  if (kind === "paragraph" || kind === "object") {
    const area = make("textarea", { id, rows: "4", required }, initial);
    return { row: make("div", { class: "field" }, label, area), read: () => area.value };
  }
  const number = kind === "integer" || kind === "number";
  const step = kind === "integer" ? "1" : "any";
  const input = make("input", {
    id,
    type: number ? "number" : "text",
    step: number && step,
    value: initial,
    required,
  });
  const read = (): unknown => (number && input.value !== "" ? Number(input.value) : input.value);
  return { row: make("div", { class: "field" }, label, input), read };
}

interface Row {
  row: HTMLElement;
  read: Read;
}

// files uploads each file when it is chosen; the form can be sent when all are stored.
function files(id: string, label: HTMLElement, required: boolean, say: Say, client: Pick<Client, "upload">): Row {
  let stored: Uploaded[] = [];
  const note = make("p", { class: "note", role: "status" });
  const choose = (): void => {
    const chosen = [...(input.files ?? [])];
    stored = [];
    note.textContent = chosen.length > 0 ? say("uploading", chosen.map(({ name }) => name).join(", ")) : "";
    input.setCustomValidity(note.textContent);
    Promise.all(chosen.map((file) => client.upload(file))).then(
      (all) => {
        stored = all;
        note.textContent = "";
        input.setCustomValidity("");
      },
      (err: unknown) => {
        note.textContent = say("notUploaded", chosen.map(({ name }) => name).join(", "), String(err));
        input.value = "";
        input.setCustomValidity("");
      },
    );
  };
  const input = make("input", { id, type: "file", multiple: true, required, change: choose });
  return { row: make("div", { class: "field" }, label, input, note), read: () => (stored.length > 0 ? stored : "") };
}

// approval draws the choice whether a tool may run, with the tool's arguments.
function approval(name: string, { approval: asked }: FormField, say: Say): Row {
  const group = `field-${++count}`;
  const choice = (value: "yes" | "no"): HTMLElement => {
    const input = make("input", { type: "radio", name: group, value, required: true });
    return make("label", { class: "choice" }, input, say(value));
  };
  const what = asked?.tool_name || asked?.component_id || name;
  const row = make(
    "fieldset",
    { class: "field" },
    make("legend", {}, say("asks", what)),
    make("pre", { tabindex: "0" }, JSON.stringify(asked?.arguments ?? {}, undefined, 2)),
    choice("yes"),
    choice("no"),
  );
  return { row, read: () => row.querySelector<HTMLInputElement>("input:checked")?.value };
}
