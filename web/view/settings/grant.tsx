// What plugins may do: in words, and the upper bound of the tenant for all of them, in parts.

import { useState } from "react";
import type { Permissions } from "../../run/admin.ts";
import { allowedBy, boundOf, megabyte, parts, type Allowed, type Part } from "../../run/grants.ts";
import type { SettingsKey, SettingsText } from "../../words/settings.ts";
import { Fault, useAttempt, useLoaded } from "../area/parts.tsx";
import { sizeText } from "../text.ts";
import { Adder, Field, textOf, useAdmin, useSettingsText, Waiting } from "./parts.tsx";

/** grantText returns permissions in words. */
export function grantText(may: Permissions, s: SettingsText): string {
  const allowed = allowedBy(may);
  const names = (part: Part): string => allowed[part] || s("may_any");
  const size = (part: Part): string =>
    allowed[part] ? sizeText(Math.round(Number(allowed[part]) * megabyte)) : s("may_any");
  const list = [
    allowed.http !== undefined && s("may_http", names("http")),
    allowed.llm !== undefined && s("may_llm", names("llm")),
    allowed.embed !== undefined && s("may_embed", names("embed")),
    allowed.kv !== undefined && s("may_kv", size("kv")),
    allowed.secrets !== undefined && s("may_secrets", names("secrets")),
    allowed.variables !== undefined && s("may_variables"),
    allowed.files_read !== undefined && s("may_read_files"),
    allowed.files_store !== undefined && s("may_store_files", size("files_store")),
    allowed.clock !== undefined && s("may_clock"),
  ].filter(Boolean);
  return list.join(" · ") || s("may_nothing");
}

const bounds: Partial<Record<Part, SettingsKey>> = {
  http: "part_http_bound",
  secrets: "part_secrets_bound",
  llm: "part_calls_bound",
  embed: "part_calls_bound",
  kv: "part_size_bound",
  files_store: "part_size_bound",
};

/** Grant shows the upper bound of the tenant, and changes it. */
export function Grant({ onChanged }: { onChanged(): void }): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const loaded = useLoaded("grant", () => admin.get<{ grant: Permissions | null }>("/plugins/grant"));
  const attempt = useAttempt();
  if (!loaded.value) return <Waiting loaded={loaded} />;
  const { grant } = loaded.value;
  const put = async (next: Permissions | null): Promise<void> => {
    await admin.put("/plugins/grant", { grant: next });
    loaded.reload();
    onChanged();
  };
  return (
    <section className="settings-part">
      <h2>{s("grant")}</h2>
      <p className="quiet">{grant === null ? s("grant_none") : `${s("grant_set")} ${grantText(grant, s)}`}</p>
      {grant !== null && (
        <div className="tools">
          <button type="button" disabled={attempt.busy} onClick={() => void attempt.run(() => put(null))}>
            {s("grant_lift")}
          </button>
        </div>
      )}
      <Adder
        key={JSON.stringify(grant)}
        label={s("grant_edit")}
        onSubmit={(values) => put(boundOf(chosenIn(values), grant))}
      >
        <Parts allowed={allowedBy(grant)} />
      </Adder>
      <Fault text={attempt.fault} />
    </section>
  );
}

function chosenIn(values: FormData): Allowed {
  const chosen = parts.filter((part) => values.get(part) !== null);
  return Object.fromEntries(chosen.map((part) => [part, textOf(values, `${part}_bound`)]));
}

function Parts({ allowed }: { allowed: Allowed }): React.ReactNode {
  const s = useSettingsText();
  const [chosen, setChosen] = useState(() => new Set(parts.filter((part) => allowed[part] !== undefined)));
  const toggle = (part: Part): void => setChosen(new Set(chosen.has(part) ? without(chosen, part) : [...chosen, part]));
  return parts.map((part) => {
    const bound = bounds[part];
    return (
      <fieldset key={part} className="grant-part">
        <label className="field row">
          <input type="checkbox" name={part} checked={chosen.has(part)} onChange={() => toggle(part)} />
          {s(`part_${part}`)}
        </label>
        {bound !== undefined && chosen.has(part) && (
          <Field label={s(bound)} name={`${part}_bound`} defaultValue={allowed[part] ?? ""} />
        )}
      </fieldset>
    );
  });
}

const without = (all: ReadonlySet<Part>, part: Part): Part[] => [...all].filter((each) => each !== part);
