// Services for canvases on the host: secrets, MCP servers, schedules.

import { useState } from "react";
import type { Secret, Server, Tools } from "../../run/admin.ts";
import type { Schedule } from "../../run/release.ts";
import { Empty, Fault, useAttempt, useLoaded, type Loaded } from "../area/parts.tsx";
import { useText } from "../context.tsx";
import { Adder, Field, namesOf, Row, textOf, useAdmin, useFormats, useSettingsText, Waiting } from "./parts.tsx";

const mostTools = 12;

/** SecretsSection lists the names of secrets; their values are never shown. */
export function SecretsSection(): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const { day } = useFormats();
  const loaded = useLoaded("secrets", () => admin.list<Secret>("/secrets"));
  const { value, after } = loaded;
  if (!value) return <Waiting loaded={loaded} />;
  const put = async (name: string, values: FormData): Promise<void> => {
    const body = { value: String(values.get("value")), hosts: namesOf(values, "hosts") };
    await after(() => admin.put(`/secrets/${encodeURIComponent(name)}`, body));
  };
  const fields = (hosts: string[] = []): React.ReactNode => (
    <>
      <Field label={s("secret_value")} name="value" type="password" required autoComplete="new-password" />
      <Field label={s("secret_hosts")} name="hosts" placeholder="api.example.org" defaultValue={hosts.join(", ")} />
    </>
  );
  return (
    <>
      <p className="quiet">{s("secrets_hint")}</p>
      {value.length === 0 && <Empty title={s("secrets_none")} text={s("secrets_none_hint")} />}
      {value.length > 0 && (
        <ul className="entries settings-list" aria-label={s("secrets")}>
          {value.map(({ name, hosts, updated }) => (
            <Row
              key={name}
              title={name}
              facts={[hosts?.join(", ") || s("secret_any"), day(updated)]}
              lost={s("lost_secret")}
              remove={() => after(() => admin.remove(`/secrets/${encodeURIComponent(name)}`))}
            >
              <Adder label={s("secret_replace")} onSubmit={(values) => put(name, values)}>
                {fields(hosts)}
              </Adder>
            </Row>
          ))}
        </ul>
      )}
      <Adder
        label={s("secret_add")}
        submit={s("secret_add")}
        onSubmit={(values) => put(textOf(values, "name"), values)}
      >
        <Field label={s("name")} name="name" required pattern="[A-Za-z0-9_.\-]+" />
        {fields()}
      </Adder>
    </>
  );
}

/** ServersSection lists MCP servers. */
export function ServersSection(): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const loaded = useLoaded("mcp", () => admin.list<Server>("/mcp-servers"));
  const { value, after } = loaded;
  if (!value) return <Waiting loaded={loaded} />;
  return (
    <>
      <p className="quiet">{s("mcp_hint")}</p>
      {value.length === 0 && <Empty title={s("mcp_none")} text={s("mcp_none_hint")} />}
      {value.length > 0 && (
        <ul className="entries settings-list" aria-label={s("mcp")}>
          {value.map((server) => (
            <ServerRow key={server.id} server={server} after={after} />
          ))}
        </ul>
      )}
      <Adder
        label={s("mcp_add")}
        submit={s("mcp_add")}
        onSubmit={(values) => after(() => admin.post("/mcp-servers", serverOf(values)))}
      >
        <ServerFields />
      </Adder>
    </>
  );
}

const authorization = "Authorization";

// serverOf returns the server of a form. The page never receives header values: an empty value
// keeps the stored one, unless the URL changes, so that no other server receives the secret.
function serverOf(values: FormData, before?: Server): object {
  const reached = { url: textOf(values, "url"), type: textOf(values, "type") };
  const kept = before?.url === reached.url ? before.headers.map((name) => [name, ""]) : [];
  const header = textOf(values, "header");
  const given = header ? [[authorization, header]] : [];
  return {
    name: textOf(values, "name"),
    description: textOf(values, "description"),
    ...(before?.type === stdio ? {} : { ...reached, headers: Object.fromEntries([...kept, ...given]) }),
  };
}

const stdio = "stdio";

function ServerFields({ server }: { server?: Server }): React.ReactNode {
  const s = useSettingsText();
  const placeholder = server?.headers.includes(authorization) ? s("mcp_header_kept") : "Bearer {{secret:NAME}}";
  return (
    <>
      <Field label={s("name")} name="name" required maxLength={100} defaultValue={server?.name} />
      {server?.type !== stdio && (
        <>
          <Field
            label={s("mcp_url")}
            name="url"
            type="url"
            required
            placeholder="https://mcp.example.org/mcp"
            defaultValue={server?.url}
          />
          <label className="field">
            HTTP
            <select name="type" defaultValue={server?.type}>
              <option>streamable-http</option>
              <option>sse</option>
            </select>
          </label>
          <Field label={`${s("mcp_header")} (${s("optional")})`} name="header" placeholder={placeholder} />
        </>
      )}
      <Field label={`${s("description")} (${s("optional")})`} name="description" defaultValue={server?.description} />
    </>
  );
}

function ServerRow({ server, after }: { server: Server } & Pick<Loaded<unknown>, "after">): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const attempt = useAttempt();
  const [found, setFound] = useState<Tools>();
  const path = `/mcp-servers/${encodeURIComponent(server.id)}`;
  const tools = found?.ok ? found.items.map(({ name }) => name) : server.tools;
  const shown = tools.slice(0, mostTools).join(", ") + (tools.length > mostTools ? ", …" : "");
  return (
    <Row
      title={server.name}
      facts={[server.url, server.type, server.headers.join(", ")]}
      acts={
        <button
          type="button"
          disabled={attempt.busy}
          onClick={() => void attempt.run(async () => setFound(await admin.post<Tools>(`${path}/tools`)))}
        >
          {s("mcp_tools")}
        </button>
      }
      remove={() => after(() => admin.remove(path))}
    >
      {server.description && <small>{server.description}</small>}
      {tools.length > 0 && <small>{s("mcp_offers", tools.length, shown)}</small>}
      <Fault text={attempt.fault ?? (found && !found.ok ? s("mcp_failed", found.error ?? "") : undefined)} />
      <Adder
        label={s("edit")}
        onSubmit={async (values) => {
          await after(() => admin.put(path, serverOf(values, server)));
          setFound(undefined);
        }}
      >
        <ServerFields server={server} />
      </Adder>
    </Row>
  );
}

type HostSchedule = Schedule & { canvas: string };

/** SchedulesSection lists what runs by itself, of all canvases. */
export function SchedulesSection(): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const t = useText();
  const { time } = useFormats();
  const loaded = useLoaded("schedules", () => admin.list<HostSchedule>("/schedules"));
  const attempt = useAttempt();
  const { value, after } = loaded;
  if (!value) return <Waiting loaded={loaded} />;
  const path = (id: string): string => `/schedules/${encodeURIComponent(id)}`;
  return (
    <>
      <p className="quiet">{s("schedules_hint")}</p>
      <Fault text={attempt.fault} />
      {value.length === 0 && <Empty title={s("schedules_none")} text={s("schedules_none_hint")} />}
      {value.length > 0 && (
        <ul className="entries settings-list" aria-label={s("schedules")}>
          {value.map(({ id, name, every, cron, zone, plugin, hook, paused, next, last }) => (
            <Row
              key={id}
              title={name}
              {...(paused ? { badge: s("schedule_paused"), tone: "wait" } : {})}
              facts={[
                plugin,
                hook ?? every ?? [cron, zone].filter(Boolean).join(" "),
                next[0] !== undefined && s("schedule_next", time(next[0])),
                last && s("schedule_last", `${time(last.created)}: ${t(`status.${last.status}`)}`),
              ]}
              acts={
                <button
                  type="button"
                  disabled={attempt.busy}
                  onClick={(event) => {
                    // The second click of a double click would resume what the first paused.
                    if (event.detail > 1) return;
                    void attempt.run(() => after(() => admin.put(path(id), { paused: !paused })));
                  }}
                >
                  {s(paused ? "schedule_resume" : "schedule_pause")}
                </button>
              }
              remove={() => after(() => admin.remove(path(id)))}
            >
              {last?.error && <p className="reason">{last.error}</p>}
            </Row>
          ))}
        </ul>
      )}
    </>
  );
}
