// Header lines as rows of names and values. A value may name a secret.

import { useState } from "react";
import { badHeader, headersAs, headersOf, type Header } from "../../canvas/headers.ts";
import { Icon } from "../icons.tsx";
import { Fault, secretIn, SecretField, useConnectText } from "./connect-parts.tsx";
import { useParts } from "./params.tsx";
import type { ControlProps } from "./props.ts";

/** HeaderLines edits headers, which are written as an object. */
export function HeaderLines(props: ControlProps): React.ReactNode {
  const { value, onChange } = props;
  const { AsJson } = useParts();
  const lines = headersOf(value);
  if (!lines) return <AsJson {...props} />;
  return <Headers lines={lines} onChange={(next) => onChange(headersAs(undefined, next))} />;
}

/** Headers edits lines. A row without a name is not written yet. */
export function Headers({ lines, node, onChange }: {
  lines: readonly Header[];
  /** Node whose variables the values may use; undefined for none. */
  node?: string;
  onChange(lines: Header[]): void;
}): React.ReactNode {
  const c = useConnectText();
  const [added, setAdded] = useState(false);
  const rows: readonly Header[] = added ? [...lines, { name: "", value: "" }] : lines;
  return (
    <div className="rows">
      {rows.map(({ name, value }, i) => (
        <div key={i} className="row-item" role="group" aria-label={c("header", i + 1)}>
          <div className="row-body">
            <NameField
              name={name} label={c("header_name", i + 1)} taken={lines.toSpliced(i, 1).map((each) => each.name)}
              onChange={(next) => {
                if (i === lines.length) setAdded(false);
                onChange([...lines.slice(0, i), { name: next, value }, ...lines.slice(i + 1)]);
              }}
            />
            {name !== "" && (
              <HeaderValue
                node={node} label={c("header_value", i + 1)} name={name} value={value}
                onChange={(next) => onChange(lines.with(i, { name, value: next }))}
              />
            )}
          </div>
          <span className="row-tools">
            <button
              type="button" className="icon-button" aria-label={c("remove", c("header", i + 1))}
              onClick={() => (i === lines.length ? setAdded(false) : onChange(lines.toSpliced(i, 1)))}
            >
              <Icon name="cross" />
            </button>
          </span>
        </div>
      ))}
      <button type="button" className="add" disabled={added} onClick={() => setAdded(true)}>
        <Icon name="plus" />
        {c("header_add")}
      </button>
    </div>
  );
}

function NameField({ name, label, taken, onChange }: {
  name: string;
  label: string;
  taken: string[];
  onChange(name: string): void;
}): React.ReactNode {
  const c = useConnectText();
  const [typed, setTyped] = useState(name);
  const [known, setKnown] = useState(name);
  if (known !== name) {
    setKnown(name);
    setTyped(name);
  }
  const twice = taken.some((each) => each.toLowerCase() === typed.trim().toLowerCase());
  const bad = typed.trim() === "" ? "" : badHeader(typed.trim()) ? c("header_bad") : twice ? c("header_twice") : "";
  const leave = (): void => {
    const next = typed.trim();
    if (next !== "" && next !== name && bad === "") onChange(next);
  };
  return (
    <>
      <input
        type="text" aria-label={label} placeholder="X-Name" spellCheck={false} autoComplete="off" value={typed}
        autoFocus={name === ""} aria-invalid={bad !== ""} onBlur={leave}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          leave();
        }}
      />
      {bad && <Fault text={bad} />}
    </>
  );
}

function HeaderValue({ node, label, name, value, onChange }: {
  node: string | undefined;
  label: string;
  name: string;
  value: unknown;
  onChange(value: string): void;
}): React.ReactNode {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? "");
  // A scheme that was typed before the secret stays.
  const scheme = secretIn(text)?.scheme ?? /^\w+ $/.exec(text)?.[0] ?? (/^authorization$/i.test(name) ? "Bearer " : "");
  return (
    <SecretField
      label={label} value={text} node={node} onChange={onChange} around={(secret) => scheme + secret}
      propose={name.toUpperCase().replace(/\W+/g, "_")}
    />
  );
}
