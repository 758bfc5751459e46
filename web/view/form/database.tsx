// The connection of a database: its kind, and a test that lists the tables.

import { useState } from "react";
import { word } from "../../canvas/dsl.ts";
import { portAfter, settingsAfter, usesServer } from "../../canvas/database.ts";
import { useApp } from "../context.tsx";
import { useAttempt, useLoaded } from "../loaded.ts";
import { Fault, SignIn, useConnectText, useMayAsk } from "./connect-parts.tsx";
import { useSettings } from "./params.tsx";
import type { ControlProps } from "./props.ts";
import { optionsOf } from "./shown.ts";

// Others stand in documents, but no host reaches them.
const kinds = ["mysql", "postgres", "mariadb", "oceanbase", "sqlite"];

/** Database edits the kind of a database, and its port with it. */
export function Database({ id, node, value, schema, onChange }: ControlProps): React.ReactNode {
  const c = useConnectText();
  const { params, set } = useSettings(node);
  const now = word(value ?? schema.default ?? "");
  const titleOf = (kind: string): string => optionsOf(schema).find((each) => each.value === kind)?.label ?? kind;
  const choose = (kind: string): void => {
    const port = portAfter(params, kind);
    if (port.changed) set(settingsAfter(kind, port.port));
    else onChange(kind);
  };
  return (
    <>
      <select id={id} value={now} onChange={(event) => choose(event.target.value)}>
        {[...new Set([...kinds, now])].map((kind) => <option key={kind} value={kind}>{titleOf(kind)}</option>)}
      </select>
      {!kinds.includes(now) && <small className="missing">{c("database_none", now)}</small>}
    </>
  );
}

/** Connection edits the name of a database, and tests the connection. */
export function Connection(props: ControlProps): React.ReactNode {
  const { id, node, value, hint, describedBy, onChange } = props;
  const c = useConnectText();
  const { params } = useSettings(node);
  const files = useFiles(!usesServer(params));
  if (files.length > 0) {
    const now = word(value ?? "");
    const odd = now !== "" && !files.includes(now);
    return (
      <div className="rows">
        <select id={id} value={now} aria-describedby={describedBy} onChange={(event) => onChange(event.target.value)}>
          {now === "" && <option value="">{c("database_choose")}</option>}
          {odd && <option value={now}>{c("database_absent", now)}</option>}
          {files.map((file) => <option key={file} value={file}>{file}</option>)}
        </select>
        <Test node={node} />
      </div>
    );
  }
  return (
    <div className="rows">
      <input
        id={id} type="text" autoComplete="off" spellCheck={false} value={word(value ?? "")}
        placeholder={usesServer(params) ? hint : c("database_file")} aria-describedby={describedBy}
        onChange={(event) => onChange(event.target.value)}
      />
      <Test node={node} />
    </div>
  );
}

const noFiles: string[] = [];

// useFiles lists the SQLite files that the host offers; none where it cannot be asked.
function useFiles(wanted: boolean): string[] {
  const { host } = useApp();
  const asks = useMayAsk() && wanted;
  const { value } = useLoaded(String(asks), async () =>
    asks ? (await host.request<{ items: string[] }>("GET", "/api/v2/databases/files")).items : noFiles);
  return value ?? noFiles;
}

interface Found {
  ok: boolean;
  error?: string;
  items: string[];
}

// Test connects as a run of the canvas would.
function Test({ node }: { node: string }): React.ReactNode {
  const c = useConnectText();
  const { host } = useApp();
  const { params } = useSettings(node);
  const mayAsk = useMayAsk();
  const attempt = useAttempt();
  const connection = JSON.stringify(settingsOf(params));
  const [found, setFound] = useState<Found & { of: string }>();
  const test = (): Promise<boolean> => attempt.run(async () => {
    setFound(undefined);
    const body = { params: settingsOf(params) };
    setFound({ ...(await host.request<Found>("POST", "/api/v2/databases/tables", body)), of: connection });
  });
  // The result belongs to the settings that were tested.
  const shown = found?.of === connection ? found : undefined;
  return (
    <>
      <div className="connect-acts">
        <button type="button" disabled={!mayAsk || attempt.busy} onClick={() => void test()}>
          {attempt.busy && <span className="spinner" aria-hidden="true" />}
          {c("database_test")}
        </button>
      </div>
      <SignIn />
      <Fault text={attempt.fault ?? (shown && !shown.ok ? shown.error : undefined)} />
      {shown?.ok && (
        <section aria-label={c("database_tables", shown.items.length)}>
          <p className="small good-text" role="status">{c("database_ok", shown.items.length)}</p>
          <ul className="tables">
            {shown.items.map((table) => <li key={table}><code>{table}</code></li>)}
          </ul>
        </section>
      )}
    </>
  );
}

const names = ["db_type", "database", "username", "host", "port", "password", "read_only"];

// settingsOf returns the params of a connection without the rest, such as the statement.
function settingsOf(params: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]]])));
}
