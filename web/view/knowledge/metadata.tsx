// Metadata of one document or of many: keys with typed values. Only what is changed here is sent.

import { useId, useState } from "react";
import type { Datasets, MetaValue, StoredDocument } from "../../run/datasets.ts";
import { longestKey, metaTypes, textOf, typeOf, valueOf, type MetaType } from "../../run/metadata.ts";
import { useAreaText } from "../area/text.ts";
import { Icon } from "../icons.tsx";
import { FormDialog } from "./form-dialog.tsx";

interface Line {
  key: string;
  type: MetaType;
  text: string;
  /** The key stands in all documents with one value, in some, or was added here. */
  from: "all" | "some" | "new";
  before: string;
  isGone: boolean;
}

const added: Line = { key: "", type: "text", text: "", before: "", from: "new", isGone: false };

// linesOf lists the keys of documents; a value that differs between them is empty.
function linesOf(documents: readonly StoredDocument[]): Line[] {
  const keys = new Set(documents.flatMap(({ metadata }) => Object.keys(metadata)));
  return [...keys].sort().map((key) => {
    const values = documents.map(({ metadata }) => (Object.hasOwn(metadata, key) ? metadata[key] : undefined));
    const [first] = values;
    const isSame = first !== undefined && values.every((value) => JSON.stringify(value) === JSON.stringify(first));
    const known = values.find((value) => value !== undefined) ?? "";
    const text = isSame ? textOf(first) : "";
    return { key, type: typeOf(known), text, before: text, from: isSame ? "all" : "some", isGone: false };
  });
}

/** MetadataDialog edits the metadata of documents; onSave gets what changed. */
export function MetadataDialog({ api, dataset, documents, onSave, onClose }: {
  api: Datasets;
  dataset: string;
  documents: readonly StoredDocument[];
  onSave(act: (ids: string[]) => Promise<unknown>): void;
  onClose(): void;
}): React.ReactNode {
  const a = useAreaText();
  const [lines, setLines] = useState(() => linesOf(documents));
  const [isAsked, setAsked] = useState(false);
  const changes = lines.filter((line) => !line.isGone && (line.text !== line.before || line.from === "new"));
  const wrong = changes.filter((line) => faultOf(line, lines) !== undefined);
  const gone = lines.filter(({ isGone, from }) => isGone && from !== "new").map(({ key }) => key);
  const change = (at: number, part: Partial<Line>): void =>
    setLines(lines.map((line, i) => (i === at ? { ...line, ...part } : line)));
  const save = (close: () => void): void => {
    setAsked(true);
    if (wrong.length > 0) return;
    const set = changes.flatMap(({ key, type, text }): [string, MetaValue][] => {
      const value = valueOf(type, text);
      return value === undefined ? [] : [[key.trim(), value]];
    });
    close();
    if (set.length + gone.length > 0) onSave((ids) => api.setMetadata(dataset, ids, set, gone));
  };
  return (
    <FormDialog
      title={documents.length === 1 ? a("meta.of", documents[0]?.name ?? "") : a("meta.of_many", documents.length)}
      className="metadata" send={a("save")} isReady={changes.length + gone.length > 0}
      isEdited={changes.length + gone.length > 0} onSend={save} onClose={onClose}
    >
      <p className="quiet small">{a(documents.length === 1 ? "meta.hint" : "meta.hint_many")}</p>
      <ul className="meta-lines">
        {lines.map((line, i) => (
          <LineView
            key={i} line={line} fault={isAsked ? faultOf(line, lines) : undefined}
            onChange={(part) => change(i, part)}
            onRemove={() =>
              line.from === "new"
                ? setLines(lines.filter((_, at) => at !== i))
                : change(i, { isGone: !line.isGone })}
          />
        ))}
      </ul>
      <button
        type="button" className="start"
        onClick={() => setLines([...lines, added])}
      >
        <Icon name="plus" />
        {a("meta.add")}
      </button>
    </FormDialog>
  );
}

// faultOf returns the fault of a line; undefined for none.
function faultOf(
  line: Line, lines: readonly Line[],
): "meta.no_key" | "meta.twice" | "meta.not_number" | "meta.not_date" | "meta.no_value" | undefined {
  if (line.isGone) return undefined;
  if (line.key.trim() === "") return "meta.no_key";
  const isTwice = lines.some((other) => other !== line && other.key.trim() === line.key.trim());
  if (line.from === "new" && isTwice) return "meta.twice";
  if (line.from === "some" && line.text === "") return undefined; // each document keeps its own
  if (valueOf(line.type, line.text) !== undefined) return undefined;
  if (line.text.trim() === "") return "meta.no_value";
  return line.type === "number" ? "meta.not_number" : line.type === "date" ? "meta.not_date" : "meta.no_value";
}

function LineView({ line, fault, onChange, onRemove }: {
  line: Line;
  fault: ReturnType<typeof faultOf>;
  onChange(part: Partial<Line>): void;
  onRemove(): void;
}): React.ReactNode {
  const a = useAreaText();
  const { key, type, text, from, isGone } = line;
  const id = useId();
  const name = key || a("meta.key");
  return (
    <li data-gone={isGone || undefined}>
      {from === "new" ? (
        <input
          type="text" autoFocus aria-label={a("meta.key")} placeholder={a("meta.key")} maxLength={longestKey}
          value={key}
          onChange={(event) => onChange({ key: event.target.value })}
        />
      ) : (
        <b className="meta-key">{key}</b>
      )}
      <select
        aria-label={a("meta.type_of", name)} value={type} disabled={isGone}
        onChange={(event) => onChange({ type: event.target.value as MetaType })}
      >
        {metaTypes.map((each) => (
          <option key={each} value={each}>
            {a(`meta.${each}`)}
          </option>
        ))}
      </select>
      <input
        type={type === "date" ? "date" : "text"} inputMode={type === "number" ? "decimal" : undefined} disabled={isGone}
        aria-label={a("meta.value_of", name)} aria-invalid={fault !== undefined} aria-describedby={fault && id}
        placeholder={from === "some" ? a("meta.differs") : type === "list" ? a("meta.list_hint") : undefined}
        value={text} onChange={(event) => onChange({ text: event.target.value })}
      />
      <button
        type="button" className="icon-button" aria-pressed={from === "new" ? undefined : isGone}
        aria-label={a("meta.remove", name)} title={a("meta.remove", name)} onClick={onRemove}
      >
        <Icon name="trash" />
      </button>
      {fault && <p id={id} className="problem" data-severity="error">{a(fault)}</p>}
    </li>
  );
}
