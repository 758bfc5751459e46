// Who has which role on an object, and through what; own roles are given and taken back here.

import { useState } from "react";
import { bySubject, roles, strongest, type Holder, type Role, type Roles, type Sharing } from "../../run/roles.ts";
import { Confirm, Fault, useAttempt, useLoaded, type Loaded } from "../area/parts.tsx";
import { useSharingText, type SharingText } from "./text.ts";
import { shown } from "../../words/shown.ts";

function nameOf(s: SharingText, { subject, name }: Holder): string {
  if (subject === "") return s("each_member");
  if (subject.startsWith("group:")) return s("group", subject.slice("group:".length));
  if (name === "") return s("gone");
  return subject.startsWith("key:") ? s("key", name) : name;
}

function wayOf(s: SharingText, { through, role }: Holder): string {
  const way = `way_${through}` as const;
  return way === "way_owner" || way === "way_tenant" ? s(way) : s(way, s(`role_${role}`));
}

/** Holders lists who has a role on an object; `mayGive` is false for memories. */
export function Holders({ api, object, sharing, mayGive }: {
  api: Roles;
  object: string;
  sharing: Loaded<Sharing>;
  mayGive: boolean;
}): React.ReactNode {
  const s = useSharingText();
  const attempt = useAttempt();
  const { value, after, fault } = sharing;
  if (!value) return <Fault text={fault} onAgain={sharing.reload} />;
  const changes = mayGive && value.role === "admin";
  const set = (subject: string, role: Role): void =>
    void attempt.run(() => after(() => api.give(object, subject, role)));
  const take = (subject: string): void => void attempt.run(() => after(() => api.revoke(object, subject)));
  return (
    <>
      <ul className="entries settings-list holders" aria-label={s("who")}>
        {bySubject(value.items).map((ways) => {
          const [first] = ways;
          if (!first) return null;
          const own = ways.find(({ through }) => through === "grant");
          const name = nameOf(s, first);
          return (
            <li key={first.subject}>
              <div className="what">
                <span className="row">
                  <b>{shown(name)}</b>
                  <span className="badge state">{s(`role_${strongest(ways)}`)}</span>
                </span>
                <small>{ways.map((way) => wayOf(s, way)).join(" · ")}</small>
              </div>
              {own && changes && (
                <div className="acts">
                  <select
                    value={own.role} aria-label={s("role_of", name)} disabled={attempt.busy}
                    onChange={({ target }) => set(own.subject, target.value as Role)}
                  >
                    {roles.map((role) => <option key={role} value={role}>{s(`role_${role}`)}</option>)}
                  </select>
                  <Confirm
                    icon label={s("take", name)} sure={s("take_sure")} disabled={attempt.busy}
                    onDone={() => take(own.subject)}
                  />
                </div>
              )}
            </li>
          );
        })}
      </ul>
      <Fault text={attempt.fault} />
      {changes && <Give api={api} given={value.items} onGive={set} isBusy={attempt.busy} />}
    </>
  );
}

function Give({ api, given, onGive, isBusy }: {
  api: Roles;
  given: readonly Holder[];
  onGive(subject: string, role: Role): void;
  isBusy: boolean;
}): React.ReactNode {
  const s = useSharingText();
  const subjects = useLoaded("subjects", () => api.subjects());
  const [subject, setSubject] = useState("");
  const [role, setRole] = useState<Role>("runner");
  const has = new Set(given.filter(({ through }) => through === "grant").map((each) => each.subject));
  const groups = (subjects.value?.groups ?? []).map((name) => ({ id: `group:${name}`, name: s("group", name) }));
  const people = (subjects.value?.people ?? []).map(({ id, name, email }) => ({
    id: `user:${id}`, name: name === email ? name : `${name} (${email})`,
  }));
  const choices = [...groups, ...people].filter(({ id }) => !has.has(id));
  if (subjects.value && choices.length === 0) return <p className="quiet small">{s("no_subjects")}</p>;
  return (
    <form
      className="give"
      onSubmit={(event) => {
        event.preventDefault();
        onGive(subject, role);
        setSubject("");
      }}
    >
      <label className="field">
        {s("give_to")}
        <select required value={subject} onChange={({ target }) => setSubject(target.value)}>
          <option value="">{s("choose")}</option>
          {choices.map(({ id, name }) => <option key={id} value={id}>{shown(name)}</option>)}
        </select>
      </label>
      <label className="field">
        {s("role")}
        <select value={role} onChange={({ target }) => setRole(target.value as Role)}>
          {roles.map((each) => (
            <option key={each} value={each}>{s(`role_${each}`)}: {s(`about_${each}`)}</option>
          ))}
        </select>
      </label>
      <button type="submit" disabled={isBusy || subject === ""}>{s("give")}</button>
      <Fault text={subjects.fault} />
    </form>
  );
}
