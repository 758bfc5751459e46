// The permissions of the host's plugins, the limit of the tenant for all of them, and built-in
// tools.

import type { ComponentSpec } from "@easel/engine";
import type { Installed } from "../../run/admin.ts";
import { Empty, useLoaded } from "../area/parts.tsx";
import { useApp, useLook, useSpecText, useStore } from "../context.tsx";
import { Grant, grantText } from "./grant.tsx";
import { PluginForm } from "./plugin-form.tsx";
import { Row, useAdmin, useSettingsText, Waiting } from "./parts.tsx";
import { spoken } from "../text.ts";

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
          {value.map((plugin, i) => (
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
              <small>{grantText(plugin.granted, s)}</small>
              {Object.entries(plugin.secrets ?? {}).map(([name, there]) => (
                <small key={name} className={there ? "good" : "reason"}>
                  {s(there ? "secret_set" : "secret_missing", name)}
                </small>
              ))}
              {mayEdit && fileOf(plugin) !== fileOf(value[i - 1]) && (plugin.settings ?? plugin.secrets) && (
                <PluginForm plugin={fileOf(plugin)} onSaved={loaded.reload} />
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

// fileOf names the file of a component, which has one form of settings for all of its components.
function fileOf(plugin: Installed | undefined): string {
  return plugin ? `${plugin.name}@${plugin.component.split("@")[1]}` : "";
}

function BuiltIn(): React.ReactNode {
  const s = useSettingsText();
  const say = useSpecText();
  const specs = useStore(useApp().session.specs, (all) => all);
  const nameOf = (name: string, label = name): string => {
    const words = spoken(name);
    return say(words) === words ? say(label) : say(words); // services keep their names
  };
  const tools = [...new Set(specs.values())].filter((spec: ComponentSpec) => spec.category === "tool");
  return (
    <section className="settings-part">
      <h2>{s("builtin")}</h2>
      <p className="quiet">{s("builtin_hint")}</p>
      <ul className="tool-list">
        {tools.map(({ name, label, description }) => (
          <li key={name}>
            <b>{nameOf(name, label)}</b> <small>{say(description ?? "")}</small>
          </li>
        ))}
      </ul>
    </section>
  );
}
