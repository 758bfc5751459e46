// The permissions of the host's plugins, the limit of the tenant for all of them, and built-in
// tools.

import type { ComponentSpec } from "@easel/engine";
import type { Installed, Permissions } from "../../run/admin.ts";
import { Empty, Fault, sizeText, useAttempt, useLoaded } from "../area/parts.tsx";
import { useApp, useLook, useSpecText, useStore } from "../context.tsx";
import { PluginForm } from "./plugin-form.tsx";
import { Row, useAdmin, useSettingsText, Waiting } from "./parts.tsx";
import type { SettingsText } from "../../words/settings.ts";

const tones = { on: "good", off: undefined, waiting: "wait", broken: "bad" } as const;

/** PluginsSection lists plugins with their grants. */
export function PluginsSection({ mayGrant, mayEdit }: { mayGrant: boolean; mayEdit: boolean }): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const language = useLook((look) => look.language);
  const loaded = useLoaded("plugins", () => admin.list<Installed>("/plugins"));
  const { value } = loaded;
  if (!value) return <Waiting loaded={loaded} />;
  return (
    <>
      <p className="quiet">{s("plugins_hint")}</p>
      {value.length === 0 && <Empty title={s("plugins_none")} text={s("plugins_none_hint")} />}
      {value.length > 0 && (
        <ul className="entries settings-list" aria-label={s("plugins")}>
          {value.map((plugin) => (
            <Row
              key={plugin.component}
              title={plugin.display?.[language] ?? plugin.name}
              badge={s(`state_${plugin.state}`)}
              {...(tones[plugin.state] ? { tone: tones[plugin.state] } : {})}
              facts={[
                `${plugin.component} ${plugin.version}`,
                plugin.trigger && s(`trigger_${plugin.trigger}`),
                plugin.description,
              ]}
            >
              {plugin.note && <p className="reason">{plugin.note}</p>}
              <small>{granted(plugin.granted, s)}</small>
              {Object.entries(plugin.secrets ?? {}).map(([name, there]) => (
                <small key={name} className={there ? "good" : "reason"}>
                  {s(there ? "secret_set" : "secret_missing", name)}
                </small>
              ))}
              {mayEdit && (plugin.settings ?? plugin.secrets) && (
                <PluginForm plugin={plugin.component.slice("plugin:".length)} onSaved={loaded.reload} />
              )}
            </Row>
          ))}
        </ul>
      )}
      {value.length > 0 && mayGrant && <Grant onChanged={loaded.reload} />}
      <BuiltIn />
    </>
  );
}

function granted(may: Permissions, s: SettingsText): string {
  const list = [
    may.http?.hosts?.length && s("may_http", may.http.hosts.join(", ")),
    may.llm && s("may_llm", may.llm.max_calls),
    may.embed && s("may_embed", may.embed.max_calls),
    may.kv && s("may_kv", sizeText(may.kv.bytes)),
    may.secrets && Object.keys(may.secrets).length > 0 && s("may_secrets", Object.keys(may.secrets).join(", ")),
    may.variables && s("may_variables"),
    may.files?.read && s("may_read_files"),
    may.files?.write_bytes && s("may_store_files", sizeText(may.files.write_bytes)),
  ].filter(Boolean);
  return list.join(" · ") || s("may_nothing");
}

function Grant({ onChanged }: { onChanged(): void }): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const loaded = useLoaded("grant", () => admin.get<{ grant: Permissions | null }>("/plugins/grant"));
  const attempt = useAttempt();
  if (!loaded.value) return <Waiting loaded={loaded} />;
  const { grant } = loaded.value;
  const put = (next: Permissions | null): void =>
    void attempt.run(async () => {
      await admin.put("/plugins/grant", { grant: next });
      loaded.reload();
      onChanged();
    });
  return (
    <section className="settings-part">
      <h2>{s("grant")}</h2>
      <p className="quiet">{grant === null ? s("grant_none") : `${s("grant_set")} ${granted(grant, s)}`}</p>
      <div className="tools">
        <button type="button" disabled={attempt.busy} onClick={() => put({})}>
          {s("grant_nothing")}
        </button>
        {grant !== null && (
          <button type="button" disabled={attempt.busy} onClick={() => put(null)}>
            {s("grant_lift")}
          </button>
        )}
      </div>
      <Fault text={attempt.fault} />
    </section>
  );
}

function BuiltIn(): React.ReactNode {
  const s = useSettingsText();
  const say = useSpecText();
  const specs = useStore(useApp().session.specs, (all) => all);
  const tools = [...new Set(specs.values())].filter((spec: ComponentSpec) => spec.category === "tool");
  return (
    <section className="settings-part">
      <h2>{s("builtin")}</h2>
      <p className="quiet">{s("builtin_hint")}</p>
      <ul className="tool-list">
        {tools.map(({ name, label, description }) => (
          <li key={name}>
            <b>{say(label ?? name)}</b> <small>{say(description ?? "")}</small>
          </li>
        ))}
      </ul>
    </section>
  );
}
