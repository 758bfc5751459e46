// The connection of a database: fields by its kind, the password as a secret, and a test that lists
// the tables.

import { word } from "../../canvas/dsl.ts";
import { useState } from "react";
import { portAfter, settingsAfter, usesServer } from "../../canvas/database.ts";
import { useApp } from "../context.tsx";
import { useAttempt } from "../loaded.ts";
import { Fault, SecretField, SignIn, useConnectText, useMayAsk } from "./connect-parts.tsx";
import { useSettings } from "./params.tsx";
import type { ControlProps } from "./props.ts";

const kinds = ["mysql", "postgres", "mariadb", "oceanbase", "sqlite"];
const titles: Record<string, string> = {
  mysql: "MySQL", postgres: "PostgreSQL", mariadb: "MariaDB", oceanbase: "OceanBase", sqlite: "SQLite",
};

/** Database edits one setting of a connection. */
export default function Database(props: ControlProps): React.ReactNode {
  const { params } = useSettings(props.node);
  if (props.name === "db_type") return <Kind {...props} />;
  if (props.name === "database") return <Name {...props} />;
  // The style sheet leaves out a setting whose editor is this mark.
  if (!usesServer(params)) return <span className="left-out" />;
  if (props.name === "password") return <Password {...props} />;
  return <Line {...props} />;
}

function Kind({ id, node, value, schema, onChange }: ControlProps): React.ReactNode {
  const c = useConnectText();
  const { params, set } = useSettings(node);
  const now = word(value ?? schema.default ?? "mysql");
  const choose = (kind: string): void => {
    const port = portAfter(params, kind);
    if (port.changed) set(settingsAfter(kind, port.port));
    else onChange(kind);
  };
  return (
    <>
      <select id={id} value={now} onChange={(event) => choose(event.target.value)}>
        {[...new Set([...kinds, now])].map((kind) => <option key={kind} value={kind}>{titles[kind] ?? kind}</option>)}
      </select>
      {!kinds.includes(now) && <small className="missing">{c("database_none", now)}</small>}
    </>
  );
}

function Line({ id, name, value, hint, onChange }: ControlProps): React.ReactNode {
  const number = name === "port";
  return (
    <input
      id={id} type={number ? "number" : "text"} min={number ? 1 : undefined} max={number ? 65535 : undefined}
      autoComplete="off" spellCheck={false} value={word(value ?? "")} placeholder={hint}
      onChange={(event) => {
        const text = event.target.value;
        onChange(number ? (text === "" ? null : Number(text)) : text);
      }}
    />
  );
}

// The test stands below the last field of a connection.
function Password({ id, node, label, value, onChange }: ControlProps): React.ReactNode {
  return (
    <div className="rows">
      <SecretField
        id={id} label={label} hidden value={typeof value === "string" ? value : ""} propose="DATABASE_PASSWORD"
        onChange={onChange}
      />
      <Test node={node} />
    </div>
  );
}

function Name(props: ControlProps): React.ReactNode {
  const c = useConnectText();
  const { params } = useSettings(props.node);
  if (usesServer(params)) return <Line {...props} />;
  return (
    <div className="rows">
      <Line {...props} hint={c("database_file")} />
      <Test node={props.node} />
    </div>
  );
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
