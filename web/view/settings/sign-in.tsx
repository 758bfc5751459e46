// OpenID providers at which the people of the tenant sign in.

import type { Me, SignInProvider } from "../../run/admin.ts";
import { Empty, useLoaded } from "../area/parts.tsx";
import { Adder, Copied, Field, Row, textOf, useAdmin, useSettingsText, Waiting } from "./parts.tsx";

const roles = ["normal", "admin", "owner"] as const;

/** SignInSection lists the providers; only owners change them. */
export function SignInSection({ me }: { me: Me }): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const loaded = useLoaded("oidc", () => admin.list<SignInProvider>("/oidc"));
  const { value, after } = loaded;
  if (!value) return <Waiting loaded={loaded} />;
  const mine = me.role === "owner";
  const path = (id: string): string => `/oidc/${encodeURIComponent(id)}`;
  const put = (id: string, values: FormData): Promise<unknown> => {
    const body = providerOf(values, s("sign_in_group_twice"));
    return after(() => admin.put(path(id), body));
  };
  const add = async (values: FormData): Promise<unknown> => {
    const id = textOf(values, "id");
    if (value.some((each) => each.id === id)) throw new Error(s("sign_in_exists", id));
    return put(id, values);
  };
  return (
    <>
      <p className="quiet">{s("sign_in_hint")}</p>
      {!mine && <p className="quiet">{s("sign_in_owners")}</p>}
      {value.length === 0 && <Empty title={s("sign_in_none")} text={s("sign_in_none_hint")} />}
      {value.length > 0 && (
        <ul className="entries settings-list" aria-label={s("sign_in")}>
          {value.map((each) => (
            <Row
              key={each.id}
              title={each.name}
              {...(each.fixed ? { badge: s("sign_in_fixed") } : {})}
              facts={[each.id, each.issuer, each.client, !each.has_secret && s("sign_in_no_secret")]}
              {...(mine && !each.fixed
                ? { lost: s("lost_sign_in"), remove: () => after(() => admin.remove(path(each.id))) }
                : {})}
            >
              <Copied label={s("sign_in_redirect")} text={`${location.origin}${each.sign_in}/callback`} />
              {mine && !each.fixed && (
                <Adder label={s("edit")} submit={s("save")} onSubmit={(values) => put(each.id, values)}>
                  <ProviderFields provider={each} />
                </Adder>
              )}
            </Row>
          ))}
        </ul>
      )}
      {mine && (
        <Adder label={s("sign_in_add")} submit={s("sign_in_add")} onSubmit={add}>
          <Field
            label={s("sign_in_id")} name="id" required maxLength={40} pattern="[a-z0-9][a-z0-9_\-]*" placeholder="corp"
            title={s("sign_in_id_hint")}
          />
          <ProviderFields />
          <p className="quiet">{s("sign_in_redirect_hint")}</p>
        </Adder>
      )}
    </>
  );
}

function ProviderFields({ provider }: { provider?: SignInProvider }): React.ReactNode {
  const s = useSettingsText();
  const groups = (role: string): string =>
    Object.entries(provider?.roles ?? {}).filter(([, each]) => each === role).map(([group]) => group).join("\n");
  return (
    <>
      <Field
        label={`${s("sign_in_name")} (${s("optional")})`} name="name" maxLength={60} defaultValue={provider?.name}
      />
      <Field
        label={s("sign_in_issuer")} name="issuer" type="url" required placeholder="https://login.example.org"
        defaultValue={provider?.issuer}
      />
      <Field label={s("sign_in_client")} name="client" required defaultValue={provider?.client} />
      <Field
        label={s(provider?.has_secret ? "sign_in_secret_kept" : "sign_in_secret")} name="secret" type="password"
        autoComplete="new-password"
      />
      <Field
        label={s("sign_in_scopes")} name="scopes" defaultValue={(provider?.scopes ?? ["profile", "email"]).join(" ")}
      />
      <Field
        label={`${s("sign_in_claim")} (${s("optional")})`} name="groups_claim" placeholder="groups"
        defaultValue={provider?.groups_claim}
      />
      {roles.map((role) => (
        <label className="field" key={role}>
          {s("sign_in_groups", s(`role_${role}`))}
          <textarea name={`groups_${role}`} rows={2} defaultValue={groups(role)} />
        </label>
      ))}
      <label className="field">
        {s("sign_in_others")}
        <select name="new_role" defaultValue={provider?.new_role ?? ""}>
          <option value="">{s("sign_in_refused")}</option>
          {roles.map((role) => (
            <option key={role} value={role}>
              {s(`role_${role}`)}: {s(`role_${role}_hint`)}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

// providerOf reads a form; names of groups may have commas, so each is a line.
function providerOf(values: FormData, twice: string): Omit<SignInProvider, "id" | "has_secret" | "fixed" | "sign_in"> {
  const groups: Record<string, string> = {};
  for (const role of roles) {
    for (const group of textOf(values, `groups_${role}`).split("\n").map((each) => each.trim()).filter(Boolean)) {
      if (Object.hasOwn(groups, group)) throw new Error(`${twice} ${group}`);
      Object.defineProperty(groups, group, { value: role, enumerable: true });
    }
  }
  const secret = textOf(values, "secret");
  return {
    name: textOf(values, "name"),
    issuer: textOf(values, "issuer"),
    client: textOf(values, "client"),
    ...(secret ? { secret } : {}),
    scopes: textOf(values, "scopes").split(/\s+/).filter(Boolean),
    groups_claim: textOf(values, "groups_claim"),
    roles: groups,
    new_role: textOf(values, "new_role"),
  };
}
