// Shows a value, and edits one as JSON. The editor is CodeMirror and is fetched when
// somebody first edits.

import { lazy, Suspense, useRef, useState } from "react";
import { useText } from "./context.tsx";
import { Plain } from "./plain.tsx";
import type { Selected } from "./selected.ts";
import { brief, show } from "./text.ts";

const Editor = lazy(() => import("./editor.tsx"));

/** Values lists named values; long ones fold. */
export function Values({ values, label }: { values: Record<string, unknown>; label: string }): React.ReactNode {
  const entries = Object.entries(values);
  if (entries.length === 0) return null;
  return (
    <section className="values" aria-label={label}>
      <h3>{label}</h3>
      {entries.map(([name, value]) => <Value key={name} name={name} value={value} />)}
    </section>
  );
}

/** Value shows one value. */
export function Value({ name, value }: { name: string; value: unknown }): React.ReactNode {
  const text = show(value);
  if (text.length <= 60 && !text.includes("\n")) {
    return (
      <div className="value">
        <span className="value-name">{name}</span>
        <span className="value-short">{text === "" ? <i>""</i> : text}</span>
      </div>
    );
  }
  return (
    <details className="value" open={text.length < 1200}>
      <summary>
        <span className="value-name">{name}</span> <span className="quiet brief">{brief(value, 40)}</span>
      </summary>
      <pre tabIndex={0}>{text.length > 100_000 ? text.slice(0, 100_000) + "…" : text}</pre>
    </details>
  );
}

/** JsonEdit edits a value as JSON; onDone receives it if it is valid and the person confirms it. */
export function JsonEdit({ value, label, action, onDone }: { value: unknown; label: string; action: string;
  onDone(value: unknown): void }): React.ReactNode {
  const t = useText();
  const [text, setText] = useState(() => (typeof value === "string" ? JSON.stringify(value) : show(value)));
  const [wrong, setWrong] = useState(false);
  const selected = useRef<Selected>(undefined);
  const done = (): void => {
    try {
      onDone(JSON.parse(text));
      setWrong(false);
    } catch {
      setWrong(true);
    }
  };
  return (
    <div className="json-edit">
      <Suspense fallback={<Plain label={label} rows={6} text={text} selected={selected} onChange={setText} />}>
        <Editor text={text} label={label} selected={selected} onChange={setText} />
      </Suspense>
      {wrong && <p className="fault" role="alert">{t("node.not_json")}</p>}
      <button type="button" className="primary" onClick={done}>{action}</button>
    </div>
  );
}
