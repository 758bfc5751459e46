// Access to the host: API keys, users, tenants.

import { lazy, Suspense, useState } from "react";
import { keyScopes, type ApiKey, type Me, type Tenant, type User } from "../../run/admin.ts";
import { Empty, useLoaded } from "../area/parts.tsx";
import { Adder, Field, Row, textOf, useAdmin, useFormats, useSettingsText, Waiting } from "./parts.tsx";

const Logins = lazy(() => import("./logins.tsx"));
const Groups = lazy(() => import("./groups.tsx"));
const Leaver = lazy(() => import("../sharing/leaver.tsx"));
const roles = ["normal", "admin", "owner"] as const;
/** Given is a role that can be given. */
type Given = (typeof roles)[number];
/** usual are the permissions that a new key has unless others are chosen. */
const usual: readonly string[] = ["read", "run"];

/** KeysSection lists API keys. */
export function KeysSection({ me }: { me: Me }): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const { day, count } = useFormats();
  const loaded = useLoaded("keys", () => admin.list<ApiKey>("/keys"));
  const [made, setMade] = useState<ApiKey>();
  const { value, after } = loaded;
  if (!value) return <Waiting loaded={loaded} />;
  const mine = keyScopes.filter((scope) => me.scopes?.includes(scope));
  const some = mine.some((scope) => usual.includes(scope));
  const add = async (values: FormData): Promise<void> => {
    const expires = textOf(values, "expires");
    const chosen = mine.filter((scope) => values.get(`scope_${scope}`) !== null);
    const key = {
      name: textOf(values, "name"),
      scopes: chosen,
      tokens_per_day: Number(textOf(values, "quota")) || 0,
      ...(expires ? { expires: new Date(expires).toISOString() } : {}),
    };
    await after(async () => setMade(await admin.post<ApiKey>("/keys", key)));
  };
  const allowed = (key: ApiKey): string => {
    const has = keyScopes.filter((each) => key.scopes.includes(each));
    if (has.length === keyScopes.length) return s("key_all");
    return has.map((each) => s(`scope_${each}`)).join(", ") || s("key_nothing");
  };
  return (
    <>
      <p className="quiet">{s("keys_hint")}</p>
      {made?.key && (
        <div className="made" role="status">
          <b>{s("key_made")}</b>
          <code>{made.key}</code>
        </div>
      )}
      {value.length === 0 && <Empty title={s("keys_none")} text={s("keys_none_hint")} />}
      {value.length > 0 && (
        <ul className="entries settings-list" aria-label={s("keys")}>
          {value.map((key) => (
            <Row
              key={key.id}
              title={key.name || `${key.hint}…`}
              facts={[
                `${key.hint}…`,
                allowed(key),
                key.expires ? s("key_until", day(key.expires)) : s("key_never"),
                key.tokens_today > 0 && s("key_used", count(key.tokens_today)),
                s("created", day(key.created)),
              ]}
              lost={s("lost_key")}
              remove={() => after(() => admin.remove(`/keys/${encodeURIComponent(key.id)}`))}
            />
          ))}
        </ul>
      )}
      <Adder
        label={s("key_add")}
        submit={s("key_add")}
        onSubmit={add}
        complete={(values) => (values ? mine.some((scope) => values.get(`scope_${scope}`) !== null) : some)}
        incomplete={s("key_no_scope")}
      >
        <Field label={s("name")} name="name" required maxLength={100} />
        <fieldset className="scopes">
          <legend>{s("key_scopes")}</legend>
          {mine.map((scope) => (
            <label key={scope}>
              <input type="checkbox" name={`scope_${scope}`} defaultChecked={usual.includes(scope)} />
              <b>{s(`scope_${scope}`)}</b>
              <span>{s(`scope_${scope}_about`)}</span>
            </label>
          ))}
        </fieldset>
        <Field label={`${s("key_expires")} (${s("optional")})`} name="expires" type="date" />
        <Field label={s("key_quota")} name="quota" type="number" min={0} defaultValue={0} />
      </Adder>
    </>
  );
}

/** UsersSection lists the people of the tenant. */
export function UsersSection({ me }: { me: Me }): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const { day } = useFormats();
  const loaded = useLoaded("users", () => admin.list<User>("/users"));
  const { value, after } = loaded;
  if (!value) return <Waiting loaded={loaded} />;
  const path = (id: string): string => `/users/${encodeURIComponent(id)}`;
  // Only owners make and change owners.
  const given: Given[] = roles.filter((role) => role !== "owner" || me.role === "owner");
  const changes = ({ id, role }: User): boolean => id !== me.user && (role === "" || given.includes(role));
  const heir = ({ id, role }: User): boolean => id === me.user || given.some((each) => each === role);
  const add = async (values: FormData): Promise<void> => {
    const password = String(values.get("password"));
    const user = { email: textOf(values, "email"), password, role: textOf(values, "role") };
    await after(() => admin.post("/users", user));
  };
  return (
    <>
      <p className="quiet">{s("users_hint", me.tenant_name)}</p>
      <ul className="entries settings-list" aria-label={s("users")}>
        {value.map((user) => {
          const { id, email, nickname, role, created } = user;
          return (
            <Row
              key={id}
              title={nickname || email}
              badge={s(role === "" ? "role_none" : `role_${role}`)}
              {...(role === "" ? { tone: "bad" } : {})}
              facts={[email, s("created", day(created)), role === "" && s("role_none_hint")]}
            >
              {changes(user) && (
                <>
                  <Adder
                    label={s("user_change_role")}
                    onSubmit={(values) => after(() => admin.put(path(id), { role: textOf(values, "role") }))}
                  >
                    <Role role={role} given={given} />
                  </Adder>
                  <Adder
                    label={s("user_reset")}
                    onSubmit={(values) => admin.put(`${path(id)}/password`, { new: String(values.get("password")) })}
                  >
                    <Password />
                  </Adder>
                  <Opened label={s("user_delete")}>
                    <Leaver
                      admin={admin} user={user} users={value.filter((each) => each.id !== id && heir(each))}
                      onRemove={after}
                    />
                  </Opened>
                  <Opened label={s("logins")}>
                    <Logins path={`${path(id)}/logins`} />
                  </Opened>
                </>
              )}
              <Opened label={s("groups")}>
                <Groups path={`${path(id)}/groups`} mayEdit={id === me.user || changes(user)} />
              </Opened>
            </Row>
          );
        })}
      </ul>
      <Adder label={s("user_add")} submit={s("user_add")} onSubmit={add}>
        <Field label={s("user_email")} name="email" type="email" required />
        <Password />
        <Role role="normal" given={given} />
      </Adder>
    </>
  );
}

// Opened draws, and so loads, its content once it is opened.
function Opened({ label, children }: { label: string; children: React.ReactNode }): React.ReactNode {
  const [open, setOpen] = useState(false);
  return (
    <details className="adder" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{label}</summary>
      {open && <Suspense>{children}</Suspense>}
    </details>
  );
}

function Role({ role, given }: { role: User["role"]; given: readonly Given[] }): React.ReactNode {
  const s = useSettingsText();
  return (
    <label className="field">
      {s("user_role")}
      <select name="role" required defaultValue={role}>
        {role === "" && <option value="">{s("role_none")}</option>}
        {given.map((each) => (
          <option key={each} value={each}>
            {s(`role_${each}`)}: {s(`role_${each}_hint`)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Password(): React.ReactNode {
  const s = useSettingsText();
  return (
    <Field
      label={s("user_password")}
      name="password"
      type="password"
      required
      minLength={8}
      autoComplete="new-password"
    />
  );
}

/** TenantsSection lists the tenants of the host, for its operator. */
export function TenantsSection({ me }: { me: Me }): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const { day, count } = useFormats();
  const loaded = useLoaded("tenants", () => admin.list<Tenant>("/tenants"));
  const [made, setMade] = useState<{ key: string }>();
  const { value, after } = loaded;
  if (!value) return <Waiting loaded={loaded} />;
  const add = async (values: FormData): Promise<void> => {
    const email = textOf(values, "email");
    const owner = email ? { email, password: String(values.get("password")) } : {};
    const quota = Number(textOf(values, "quota")) || 0;
    const tenant = { name: textOf(values, "name"), ...owner, tokens_per_day: quota };
    await after(async () => setMade(await admin.post<{ key: string }>("/tenants", tenant)));
  };
  return (
    <>
      <p className="quiet">{s("tenants_hint")}</p>
      {made && (
        <div className="made" role="status">
          <b>{s("key_made")}</b>
          <code>{made.key}</code>
        </div>
      )}
      <ul className="entries settings-list" aria-label={s("tenants")}>
        {value.map(({ id, name, created, tokens_per_day: quota, tokens_today: used }) => (
          <Row
            key={id}
            title={name}
            {...(id === me.tenant ? { badge: s("tenant_self") } : {})}
            facts={[
              quota > 0 ? s("tenant_used", count(used), count(quota)) : s("tenant_no_quota", count(used)),
              s("created", day(created)),
            ]}
            {...(id === me.tenant
              ? {}
              : { remove: () => after(() => admin.remove(`/tenants/${encodeURIComponent(id)}`)) })}
          >
            <Adder
              label={s("tenant_quota")}
              onSubmit={(values) => {
                const body = { tokens_per_day: Number(textOf(values, "quota")) || 0 };
                return after(() => admin.put(`/tenants/${encodeURIComponent(id)}`, body));
              }}
            >
              <Field label={s("tenant_quota")} name="quota" type="number" min={0} defaultValue={quota} />
            </Adder>
          </Row>
        ))}
      </ul>
      <Adder label={s("tenant_add")} submit={s("tenant_add")} onSubmit={add}>
        <Field label={s("name")} name="name" required maxLength={255} />
        <Field label={`${s("tenant_owner")} (${s("optional")})`} name="email" type="email" />
        <Field label={s("user_password")} name="password" type="password" minLength={8} autoComplete="new-password" />
        <Field label={s("tenant_quota")} name="quota" type="number" min={0} defaultValue={0} />
      </Adder>
    </>
  );
}
