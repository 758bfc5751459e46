// The address and headers of an HTTP request. A command line of curl fills all its settings, and
// one run of the node alone tries them.

import { useState } from "react";
import { curled, type CurlNote } from "../../canvas/curl.ts";
import { isObject, word } from "../../canvas/dsl.ts";
import { headersAs, headersOf, type Header } from "../../canvas/headers.ts";
import { numbered } from "../../canvas/hook-security.ts";
import { useApp, useBusy } from "../context.tsx";
import { useAttempt } from "../loaded.ts";
import { Fault, placeholderOf, useConnectText, useSecrets } from "./connect-parts.tsx";
import { Headers } from "./headers.tsx";
import { useParts, useSettings } from "./params.tsx";
import type { ControlProps } from "./props.ts";
import { useLastStep } from "./tried.ts";

/** Address edits the address of a request, fills the request from curl and tries it. */
export function Address({ node, label, value, hint, onChange }: ControlProps): React.ReactNode {
  const c = useConnectText();
  const { Prompt } = useParts();
  const { tool } = useSettings(node);
  const [pasting, setPasting] = useState(false);
  const [notes, setNotes] = useState<CurlNote[]>([]);
  return (
    <div className="rows">
      <Prompt node={node} label={label} text={typeof value === "string" ? value : ""} hint={hint} onChange={onChange} />
      {pasting ? (
        <Curl
          node={node}
          onDone={(found) => {
            setPasting(false);
            if (found) setNotes(found);
          }}
        />
      ) : (
        <div className="connect-acts">
          <button type="button" className="add" onClick={() => setPasting(true)}>{c("curl_paste")}</button>
          {!tool && <Try node={node} />}
        </div>
      )}
      {notes.map((note) => <small key={note} className="wait-text">{c(`curl_${note}`)}</small>)}
      {!tool && <Answer node={node} />}
    </div>
  );
}

// Curl reads a pasted command line into the settings of the request.
function Curl({ node, onDone }: { node: string; onDone(notes?: CurlNote[]): void }): React.ReactNode {
  const c = useConnectText();
  const { params, set } = useSettings(node);
  const [text, setText] = useState("");
  const [bad, setBad] = useState("");
  const take = (): void => {
    const found = curled(text);
    if (typeof found === "string") return setBad(c(`curl_${found}`));
    set({
      url: found.url, method: found.method, headers: headersAs(params["headers"], found.headers),
      variables: found.fields ?? [], datatype: found.as ?? (found.body === undefined ? undefined : "raw"),
      body: found.body, content_type: found.type,
      ...(found.proxy === undefined ? {} : { proxy: found.proxy }),
      ...(found.timeout === undefined ? {} : { timeout: found.timeout }),
    });
    onDone(found.notes);
  };
  return (
    <div className="inset" role="group" aria-label={c("curl_paste")}>
      <label className="member">
        {c("curl_hint")}
        <textarea
          className="mono" rows={5} autoFocus spellCheck={false} value={text}
          placeholder={"curl https://api.example.org/orders \\\n  -H 'Authorization: Bearer …'"}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <Fault text={bad || undefined} />
      <div className="acts">
        <button type="button" disabled={text.trim() === ""} onClick={take}>{c("curl_take")}</button>
        <button type="button" className="plain" onClick={() => onDone()}>{c("cancel")}</button>
      </div>
    </div>
  );
}

// Try runs the node alone, with the values of the last run for its references.
function Try({ node }: { node: string }): React.ReactNode {
  const c = useConnectText();
  const { session } = useApp();
  const busy = useBusy();
  const attempt = useAttempt();
  const run = (): Promise<boolean> => attempt.run(async () => {
    const fields = await session.player.form(node);
    session.player.debug(node, Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value])));
  });
  return (
    <>
      <button type="button" disabled={busy || attempt.busy} onClick={() => void run()}>{c("try")}</button>
      <Fault text={attempt.fault} />
    </>
  );
}

const longest = 4000;

// Answer shows what the last run of the node got.
function Answer({ node }: { node: string }): React.ReactNode {
  const c = useConnectText();
  const step = useLastStep(node);
  if (!step) return null;
  if (step.status === "running") return <p className="quiet small" role="status"><span className="spinner" /></p>;
  const { status_code: status, headers, result } = step.outputs ?? {};
  if (step.error) return <Fault text={step.error} />;
  if (status === undefined) return null;
  const text = typeof result === "string" ? result : JSON.stringify(result ?? "");
  const lines = isObject(headers) ? Object.entries(headers).map(([name, value]) => `${name}: ${word(value)}`) : [];
  return (
    <section className="inset" aria-label={c("answer")}>
      <p className={`small ${Number(status) < 400 ? "good-text" : "missing"}`} role="status">
        {c("answer_status", word(status))}
      </p>
      {lines.length > 0 && (
        <details>
          <summary className="small">{c("answer_headers", lines.length)}</summary>
          <pre tabIndex={0}>{lines.join("\n")}</pre>
        </details>
      )}
      <pre tabIndex={0} aria-label={c("answer")} className="answer">{pretty(text).slice(0, longest) || "–"}</pre>
      {text.length > longest && <small>{c("answer_cut", text.length)}</small>}
    </section>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** RequestHeaders edits headers with references, and adds how the service knows the caller. */
export function RequestHeaders({ node, label, value, onChange }: ControlProps): React.ReactNode {
  const c = useConnectText();
  const { Prompt } = useParts();
  const lines = headersOf(value);
  if (!lines) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return (
      <>
        <Prompt node={node} label={label} text={text} onChange={onChange} />
        <small className="missing">{c("headers_odd")}</small>
      </>
    );
  }
  const write = (next: Header[]): void => onChange(headersAs(value, next));
  return (
    <div className="rows">
      <Headers lines={lines} node={node} onChange={write} />
      <Auth lines={lines} onChange={write} />
    </div>
  );
}

type Way = "bearer" | "basic" | "key";

// Auth adds the header with which a service knows the caller, with its key as a secret.
function Auth({ lines, onChange }: { lines: readonly Header[]; onChange(lines: Header[]): void }): React.ReactNode {
  const c = useConnectText();
  const { secrets, put } = useSecrets();
  const attempt = useAttempt();
  const [way, setWay] = useState<Way>();
  const [user, setUser] = useState("");
  const [key, setKey] = useState("");
  const [header, setHeader] = useState("X-API-Key");
  const ready = key !== "" && (way !== "basic" || user !== "") && (way !== "key" || header.trim() !== "");
  const close = (): void => {
    setWay(undefined);
    setKey("");
    setUser("");
  };
  const add = (): Promise<boolean> => attempt.run(async () => {
    const name = way === "key" ? header.trim() : "Authorization";
    const scheme = way === "bearer" ? "Bearer " : way === "basic" ? "Basic " : "";
    const text = way === "basic" ? btoa(String.fromCharCode(...new TextEncoder().encode(`${user}:${key}`))) : key;
    let value = text;
    if (secrets) {
      const secret = numbered(`${name}_${way}`.toUpperCase().replace(/\W+/g, "_"), secrets.map((each) => each.name));
      await put(secret, text);
      value = placeholderOf(secret);
    }
    const others = lines.filter((line) => line.name.toLowerCase() !== name.toLowerCase());
    onChange([...others, { name, value: scheme + value }]);
    close();
  });
  return (
    <>
      <select
        aria-label={c("auth")} value={way ?? ""}
        onChange={(event) => setWay((event.target.value || undefined) as Way | undefined)}
      >
        <option value="">{c("auth")}</option>
        {(["bearer", "basic", "key"] as const).map((each) => (
          <option key={each} value={each}>{c(`auth_${each}`)}</option>
        ))}
      </select>
      {way && (
        <div className="inset" role="group" aria-label={c(`auth_${way}`)}>
          {way === "basic" && (
            <label className="member">
              {c("hook_user")}
              <input type="text" autoComplete="off" value={user} onChange={(event) => setUser(event.target.value)} />
            </label>
          )}
          {way === "key" && (
            <label className="member">
              {c("hook_header")}
              <input
                type="text" autoComplete="off" spellCheck={false} value={header}
                onChange={(event) => setHeader(event.target.value)}
              />
            </label>
          )}
          <label className="member">
            {c(way === "basic" ? "hook_password" : "auth_secret")}
            <input
              type="password" autoComplete="new-password" value={key} onChange={(event) => setKey(event.target.value)}
            />
          </label>
          <small>{c(secrets ? "auth_stored" : "auth_in_canvas")}</small>
          <Fault text={attempt.fault} />
          <div className="acts">
            <button type="button" disabled={!ready || attempt.busy} onClick={() => void add()}>{c("add")}</button>
            <button type="button" className="plain" onClick={close}>{c("cancel")}</button>
          </div>
        </div>
      )}
    </>
  );
}
