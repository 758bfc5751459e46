// The settings and secrets of one plugin, which count for all nodes of the tenant. They are loaded
// when the form is opened.

import { useState } from "react";
import type { PluginSettings } from "../../run/admin.ts";
import { Fault, useAttempt, useLoaded } from "../area/parts.tsx";
import { fieldsOf, SchemaFields, valuesOf } from "../area/schema.tsx";
import { useAdmin, useSettingsText, Waiting } from "./parts.tsx";

/** PluginForm is a button behind which the settings of a plugin are. */
export function PluginForm({ plugin, onSaved }: { plugin: string; onSaved(): void }): React.ReactNode {
  const s = useSettingsText();
  const [open, setOpen] = useState(false);
  return (
    <details className="adder" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{s("plugin_settings")}</summary>
      {open && <Form plugin={plugin} onSaved={onSaved} />}
    </details>
  );
}

function Form({ plugin, onSaved }: { plugin: string; onSaved(): void }): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const path = `/plugins/${encodeURIComponent(plugin)}/settings`;
  const loaded = useLoaded(path, () => admin.get<PluginSettings>(path));
  const attempt = useAttempt();
  const [saved, setSaved] = useState(false);
  if (!loaded.value) return <Waiting loaded={loaded} />;
  const { schema, values, missing = [], secrets } = loaded.value;
  const fields = fieldsOf(schema);
  const save = async (form: FormData): Promise<void> => {
    const given = secrets.map(({ name }) => [name, form.get(`secret-${name}`)] as const);
    const next = await admin.patch<PluginSettings>(path, {
      settings: valuesOf(fields, form),
      secrets: Object.fromEntries(given.filter(([, value]) => typeof value === "string" && value !== "")),
    });
    loaded.change(() => next);
  };
  return (
    <form
      className="fields"
      onChange={() => setSaved(false)}
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        void attempt.run(() => save(new FormData(form))).then((done) => {
          if (!done) return;
          for (const { name } of secrets) (form.elements.namedItem(`secret-${name}`) as HTMLInputElement).value = "";
          setSaved(true);
          onSaved();
        });
      }}
    >
      {missing.length > 0 && <p className="reason">{s("settings_missing", missing.join(", "))}</p>}
      <SchemaFields fields={fields} values={values} />
      {secrets.map(({ name, set, hosts, reason }) => (
        <label className="field" key={name}>
          {name}
          <input
            type="password"
            name={`secret-${name}`}
            autoComplete="new-password"
            placeholder={s(set ? "secret_kept" : "secret_unset")}
          />
          <small className="quiet">
            {reason} {s("secret_goes_to", hosts.join(", "))}
          </small>
        </label>
      ))}
      <Fault text={attempt.fault} />
      {saved && <p role="status">{s("settings_saved")}</p>}
      <button type="submit" className="primary" disabled={attempt.busy}>
        {s("save")}
      </button>
    </form>
  );
}
