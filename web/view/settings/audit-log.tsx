// Who changed what in the tenant, and who signed in.

import { useState } from "react";
import type { AuditCheck, AuditEntry, User } from "../../run/admin.ts";
import { dayBounds, exported, pageOf, queryOf, type AuditFilter } from "../../run/audit-log.ts";
import { Empty, Fault, useAttempt, useLoaded } from "../area/parts.tsx";
import { actions, actWords } from "../../words/audit.ts";
import { useApp, useLook } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { save } from "../save.ts";
import { Field, Row, textOf, useAdmin, useFormats, useSettingsText, Waiting } from "./parts.tsx";

const lastDay = "9999-12-31"; // later ones are no times of RFC 3339

/** AuditSection lists the entries, newest first, a page at a time. */
export function AuditSection(): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const { time } = useFormats();
  const language = useLook((look) => look.language);
  const [filter, setFilter] = useState<AuditFilter>({});
  // The number before which each page begins, from the newest one.
  const [pages, setPages] = useState<number[]>([]);
  const query = queryOf({ ...filter, before: pages.at(-1) });
  const loaded = useLoaded(`audit${query}`, () => admin.list<AuditEntry>(`/audit${query}`));
  const people = useLoaded("audit people", () => admin.list<User>("/users"));
  const { value, busy } = loaded;
  const nameOf = (id: string): string => people.value?.find((each) => each.id === id)?.email ?? id;
  const choose = (form: HTMLFormElement): void => {
    const values = new FormData(form);
    setPages([]);
    setFilter({
      user: textOf(values, "user"), action: textOf(values, "action"), object: textOf(values, "object"),
      ...dayBounds(textOf(values, "from"), textOf(values, "to")),
    });
    void loaded.reload(); // the same filter again shows what is new
  };
  return (
    <>
      <p className="quiet">{s("audit_hint")}</p>
      <Filter people={people.value ?? []} busy={busy} onChoose={choose} />
      <Fault text={people.fault} onAgain={people.reload} />
      <Proof filter={filter} />
      {!value && <Waiting loaded={loaded} />}
      {value?.length === 0 && <Empty title={s("audit_none")} text={s("audit_none_hint")} />}
      {value && value.length > 0 && (
        <ol className="entries settings-list" aria-label={s("audit")}>
          {value.map(({ number, time: at, user, caller, action, object, address }) => (
            <Row
              key={number}
              title={actWords(action, language)}
              facts={[
                time(at), user === "" ? s("audit_stranger") : nameOf(user), caller,
                object !== "" && s("audit_on", nameOf(object)), address, s("audit_number", number),
              ]}
            />
          ))}
        </ol>
      )}
      <div className="tools">
        {pages.length > 0 && (
          <button type="button" disabled={busy} onClick={() => setPages(pages.slice(0, -1))}>
            <Icon name="back" />
            {s("audit_newer")}
          </button>
        )}
        {value?.length === pageOf.list && (
          <button
            type="button"
            disabled={busy}
            onClick={() => setPages([...pages, value.at(-1)?.number ?? 0])}
          >
            {s("audit_older")}
            <Icon name="forward" />
          </button>
        )}
      </div>
    </>
  );
}

// Filter selects the entries that are shown.
function Filter({
  people, busy, onChoose,
}: { people: User[]; busy: boolean; onChoose(form: HTMLFormElement): void }): React.ReactNode {
  const s = useSettingsText();
  const language = useLook((look) => look.language);
  const named = actions.map((id) => [id, actWords(id, language)] as const)
    .toSorted(([, a], [, b]) => a.localeCompare(b, language));
  return (
    <form
      className="fields settings-fields"
      onSubmit={(event) => {
        event.preventDefault();
        onChoose(event.currentTarget);
      }}
    >
      <label className="field">
        {s("audit_user")}
        <select name="user">
          <option value="">{s("audit_anybody")}</option>
          {people.map(({ id, email }) => (
            <option key={id} value={id}>
              {email}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        {s("audit_action")}
        <select name="action">
          <option value="">{s("audit_any")}</option>
          {named.map(([id, words]) => (
            <option key={id} value={id}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <Field label={s("audit_object")} name="object" />
      <Field label={s("audit_from")} name="from" type="date" max={lastDay} />
      <Field label={s("audit_to")} name="to" type="date" max={lastDay} />
      <button type="submit" className="primary" disabled={busy}>
        {s("audit_filter")}
      </button>
    </form>
  );
}

// Proof checks the chain of the log, and exports what the filter selects.
function Proof({ filter }: { filter: AuditFilter }): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const { host } = useApp();
  const { count } = useFormats();
  const [checked, setChecked] = useState<AuditCheck>();
  const attempt = useAttempt();
  const download = async (): Promise<void> => {
    const read = async (query: string): Promise<string> =>
      (await host.ask("GET", `/api/v2/audit/export${query}`)).text();
    save(new Blob(await exported(filter, read)), "audit-log.jsonl");
  };
  const check = async (): Promise<void> => setChecked(await admin.get<AuditCheck>("/audit/check"));
  return (
    <>
      <div className="tools">
        <button type="button" disabled={attempt.busy} onClick={() => void attempt.run(download)}>
          <Icon name="save" />
          {s("audit_export")}
        </button>
        <button type="button" disabled={attempt.busy} onClick={() => void attempt.run(check)}>
          <Icon name="check" />
          {s("audit_check")}
        </button>
      </div>
      <Fault text={attempt.fault} />
      {checked && (
        <div role="status">
          <p className={checked.intact ? "verdict good" : "verdict bad"}>
            <Icon name={checked.intact ? "check" : "cross"} />
            {checked.intact ? s("audit_intact", count(checked.entries)) : s("audit_broken", checked.broken ?? 0)}
          </p>
          <p className="quiet small">
            {s("audit_hash")} <code>{checked.hash}</code>
          </p>
        </div>
      )}
    </>
  );
}
