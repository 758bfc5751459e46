// The MCP servers of an agent: each a server of the host, of which the agent gets all tools or the
// ticked ones.

import { useId, useState } from "react";
import { isObject, word, type Params } from "../../canvas/dsl.ts";
import {
  asksFirst, chosenOf, goneOf, matching, withAll, withApproval, withTools, type Offered,
} from "../../canvas/servers.ts";
import type { Header } from "../../canvas/headers.ts";
import type { Server } from "../../run/admin.ts";
import { serverNamed } from "../../run/server-names.ts";
import { useApp, useStore } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { useAttempt, useLoaded } from "../loaded.ts";
import { Fault, SignIn, useConnectText, useMayAsk } from "./connect-parts.tsx";
import { Headers } from "./headers.tsx";
import type { ControlProps } from "./props.ts";

/** The answer to listing the tools of a server. */
interface Listed {
  ok: boolean;
  error?: string;
  items: Offered[];
}

const fewTools = 7;

/** Servers edits the MCP servers of an agent. */
export function Servers({ id, value, onChange }: ControlProps): React.ReactNode {
  const c = useConnectText();
  const list = (Array.isArray(value) ? value : []).map((each: unknown): Params => (isObject(each) ? each : {}));
  const [added, setAdded] = useState<string>();
  return (
    <div className="tools">
      {list.length === 0 && <p className="quiet small">{c("server_none")}</p>}
      {list.map((entry, i) => (
        <Entry
          key={i} entry={entry} fresh={added !== undefined && entry["mcp_id"] === added}
          onChange={(next) => onChange(list.with(i, next))} onRemove={() => onChange(list.toSpliced(i, 1))}
        />
      ))}
      <Choose
        id={id} chosen={list}
        onChoose={(server) => {
          setAdded(server);
          onChange([...list, { mcp_id: server }]);
        }}
      />
      <SignIn />
    </div>
  );
}

function useServers(): readonly Server[] | undefined {
  const { serverNames } = useApp();
  const mayAsk = useMayAsk();
  useLoaded(`servers ${mayAsk}`, async () => (mayAsk ? serverNames.load() : []));
  return useStore(serverNames.known, (all) => all);
}

// Choose adds a server of the host, or a new one.
function Choose({ id, label, chosen, onChoose }: {
  id?: string;
  label?: string;
  chosen: readonly Params[];
  onChoose(server: string): void;
}): React.ReactNode {
  const c = useConnectText();
  const servers = useServers();
  const mayAsk = useMayAsk();
  const [making, setMaking] = useState(false);
  const [typed, setTyped] = useState("");
  if (!mayAsk) {
    const add = (): void => {
      if (typed.trim() === "") return;
      onChoose(typed.trim());
      setTyped("");
    };
    return (
      <div className="line">
        <input
          id={id} type="text" aria-label={c("server_id")} placeholder={c("server_id")} spellCheck={false} value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            add();
          }}
        />
        <button type="button" disabled={typed.trim() === ""} onClick={add}>{c("add")}</button>
      </div>
    );
  }
  const taken = new Set(chosen.map((entry) => serverNamed(servers, word(entry["mcp_id"] ?? ""))?.id));
  const free = servers?.filter((server) => !taken.has(server.id)) ?? [];
  const titleOf = ({ name, tools }: Server): string =>
    tools.length > 0 ? c("server_option", name, tools.length) : c("server_option_new", name);
  return (
    <>
      <select
        id={id} value="" aria-label={label ?? c("server_add")}
        onChange={(event) => (event.target.value === "new" ? setMaking(true) : onChoose(event.target.value.slice(3)))}
      >
        <option value="">{label ?? c("server_add")}</option>
        {free.map((server) => <option key={server.id} value={`id ${server.id}`}>{titleOf(server)}</option>)}
        <option value="new">{c("server_new")}</option>
      </select>
      {making && (
        <NewServer
          onDone={(server) => {
            setMaking(false);
            if (server !== undefined) onChoose(server);
          }}
        />
      )}
    </>
  );
}

/** NewServer stores a server and tests it; one that does not answer stays open to be corrected. */
export function NewServer({ onDone }: { onDone(server?: string): void }): React.ReactNode {
  const c = useConnectText();
  const { host, serverNames } = useApp();
  const attempt = useAttempt();
  const [name, setName] = useState("");
  const [url, setUrl] = useState("");
  const [headers, setHeaders] = useState<Header[]>([]);
  const [saved, setSaved] = useState<{ id: string; error: string }>();
  const ready = name.trim() !== "" && /^https?:\/\/[^/]/i.test(url.trim()) && !attempt.busy;
  const save = async (): Promise<void> => {
    if (!ready) return;
    const body = {
      name: name.trim(), url: url.trim(), headers: Object.fromEntries(headers.map((each) => [each.name, each.value])),
    };
    await attempt.run(async () => {
      const path = "/api/v2/mcp-servers";
      const { id } = saved
        ? await host.request<{ id: string }>("PUT", `${path}/${encodeURIComponent(saved.id)}`, body)
        : await host.request<{ id: string }>("POST", path, body);
      setSaved({ id, error: "" });
      const { ok, error = "" } = await host.request<Listed>("POST", `${path}/${encodeURIComponent(id)}/tools`);
      await serverNames.load();
      if (ok) onDone(id);
      else setSaved({ id, error });
    });
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    void save();
  };
  return (
    <div className="inset" role="group" aria-label={c("server_new")}>
      <label className="member">
        {c("name")}
        <input
          type="text" autoFocus autoComplete="off" maxLength={100} value={name} onKeyDown={onKeyDown}
          onChange={(event) => setName(event.target.value)}
        />
      </label>
      <label className="member">
        {c("server_url")}
        <input
          type="url" autoComplete="off" spellCheck={false} placeholder="https://mcp.example.org/mcp" value={url}
          onKeyDown={onKeyDown} onChange={(event) => setUrl(event.target.value)}
        />
      </label>
      <div className="member" role="group" aria-label={c("server_headers")}>
        <span>{c("server_headers")}</span>
        <Headers lines={headers} onChange={setHeaders} />
      </div>
      <Fault text={attempt.fault ?? (saved?.error ? c("server_saved", saved.error) : undefined)} />
      <div className="acts">
        <button type="button" disabled={!ready} onClick={() => void save()}>
          {attempt.busy && <span className="spinner" aria-hidden="true" />}
          {c(saved ? "server_retry" : "server_save")}
        </button>
        <button type="button" className="plain" onClick={() => onDone(saved?.id)}>
          {c(saved ? "server_anyway" : "cancel")}
        </button>
      </div>
    </div>
  );
}

function Entry({ entry, fresh, onChange, onRemove }: {
  entry: Params;
  /** It was added now: its tools are to be ticked. */
  fresh: boolean;
  onChange(entry: Params): void;
  onRemove(): void;
}): React.ReactNode {
  const c = useConnectText();
  const mayAsk = useMayAsk();
  const servers = useStore(useApp().serverNames.known, (all) => all);
  const id = word(entry["mcp_id"] ?? "");
  const url = typeof entry["url"] === "string" ? entry["url"] : "";
  const server = url ? undefined : serverNamed(servers, id);
  const title = server?.name ?? (url || id);
  return (
    <section className="tool-item" aria-label={title}>
      <header className="server-head">
        <Icon name="link" />
        <b>{title}</b>
        <button type="button" className="icon-button" aria-label={c("remove", title)} onClick={onRemove}>
          <Icon name="cross" />
        </button>
      </header>
      {url && (
        <>
          <label className="member">
            {c("server_address")}
            <input
              type="url" spellCheck={false} value={url}
              onChange={(event) => onChange({ ...entry, url: event.target.value })}
            />
          </label>
          <small>{c("server_direct")}</small>
        </>
      )}
      {server && <OfServer key={server.id} server={server} entry={entry} fresh={fresh} onChange={onChange} />}
      {!server && mayAsk && servers && !url && (
        <>
          <p className="missing small" role="alert">{c("server_unknown", id)}</p>
          <Choose
            label={c("server_replace")} chosen={[]}
            onChoose={(next) => onChange({ ...entry, mcp_id: next })}
          />
        </>
      )}
      {!server && <p className="small quiet">{(chosenOf(entry) ?? [c("tools_all")]).join(", ")}</p>}
    </section>
  );
}

function OfServer({ server, entry, fresh, onChange }: {
  server: Server;
  entry: Params;
  fresh: boolean;
  onChange(entry: Params): void;
}): React.ReactNode {
  const c = useConnectText();
  const { host, serverNames } = useApp();
  const loaded = useLoaded(server.id, async () => {
    const found = await host.request<Listed>("POST", `/api/v2/mcp-servers/${encodeURIComponent(server.id)}/tools`);
    if (found.ok) serverNames.learn(server.id, found.items.map(({ name }) => name));
    return found;
  });
  const { value, busy } = loaded;
  const failed = loaded.fault ?? (value && !value.ok ? (value.error ?? "") : undefined);
  return (
    <>
      {busy && <p className="quiet small" role="status"><span className="spinner" /> {c("server_asking")}</p>}
      {!busy && failed !== undefined && <Fault text={c("server_bad", failed)} onAgain={() => void loaded.reload()} />}
      {!busy && value?.ok && <p className="small good-text">{c("server_ok", value.items.length)}</p>}
      <Choice
        title={server.name} entry={entry} fresh={fresh} offered={value?.ok ? value.items : undefined}
        onChange={onChange}
      />
    </>
  );
}

// Choice selects tools. An entry without a selection includes all tools: a document cannot express
// an empty one, so the page shows a notice.
function Choice({ title, entry, fresh, offered, onChange }: {
  title: string;
  entry: Params;
  fresh: boolean;
  offered: readonly Offered[] | undefined;
  onChange(entry: Params): void;
}): React.ReactNode {
  const c = useConnectText();
  const id = useId();
  const chosen = chosenOf(entry);
  const [some, setSome] = useState(fresh || chosen !== undefined);
  const [filter, setFilter] = useState("");
  const gone = offered ? goneOf(entry, offered) : [];
  // What is stored stands in for a server that does not answer.
  const known: readonly Offered[] = offered ?? (chosen ?? []).map((name) => ({ name }));
  const shown = matching(known, filter);
  return (
    <>
      <fieldset className="asks">
        <legend className="sr">{c("server_tools", title)}</legend>
        <label className="row">
          <input type="radio" name={id} checked={some} onChange={() => setSome(true)} /> {c("tools_some")}
        </label>
        <label className="row">
          <input
            type="radio" name={id} checked={!some}
            onChange={() => {
              setSome(false);
              onChange(withAll(entry));
            }}
          />{" "}
          {c("tools_all")}
        </label>
      </fieldset>
      {(!some || asksFirst(entry)) && (
        <label className="row">
          <input
            type="checkbox" checked={asksFirst(entry)}
            onChange={(event) => onChange(withApproval(entry, event.target.checked))}
          />
          {c("tool_asks_all")}
        </label>
      )}
      {some && chosen === undefined && <p className="small wait-text" role="status">{c("tools_nothing")}</p>}
      {some && chosen !== undefined && (
        <p className="small quiet" role="status">{c("tools_count", chosen.length - gone.length, known.length)}</p>
      )}
      {gone.map((name) => (
        <p key={name} className="tool-gone small">
          <span>{c("tool_gone", name)}</span>
          <button
            type="button" className="icon-button" aria-label={c("remove", name)}
            onClick={() => onChange(withTools(entry, [], [name]))}
          >
            <Icon name="cross" />
          </button>
        </p>
      ))}
      {known.length > fewTools && (
        <input
          type="search" aria-label={`${c("tools_filter")}: ${title}`} placeholder={c("tools_filter")} value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      )}
      {offered?.length === 0 && <p className="small quiet">{c("tools_empty")}</p>}
      {known.length > 0 && shown.length === 0 && <p className="small quiet">{c("tools_no_match")}</p>}
      <ul className="tool-checks" aria-label={c("server_tools", title)}>
        {shown.map((tool) => (
          <ToolRow key={tool.name} tool={tool} entry={entry} some={some} onChange={onChange} />
        ))}
      </ul>
    </>
  );
}

function ToolRow({ tool, entry, some, onChange }: {
  tool: Offered;
  entry: Params;
  some: boolean;
  onChange(entry: Params): void;
}): React.ReactNode {
  const c = useConnectText();
  const { name, description } = tool;
  const ticked = chosenOf(entry)?.includes(name) === true;
  const tick = (on: boolean): void => onChange(on ? withTools(entry, [tool]) : withTools(entry, [], [name]));
  const what = (
    <span className="what">
      <b>{name}</b>
      {description && <small title={description}>{description}</small>}
    </span>
  );
  return (
    <li>
      {some ? (
        <label>
          <input type="checkbox" checked={ticked} onChange={(event) => tick(event.target.checked)} />
          {what}
        </label>
      ) : what}
      {some && ticked && !asksFirst(entry) && (
        <label className="row ask-first" title={c("tool_asks_of", name)}>
          <input
            type="checkbox" aria-label={c("tool_asks_of", name)} checked={asksFirst(entry, name)}
            onChange={(event) => onChange(withApproval(entry, event.target.checked, name))}
          />
          <span aria-hidden="true">{c("tool_asks")}</span>
        </label>
      )}
    </li>
  );
}
