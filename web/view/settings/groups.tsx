// The groups of a member: those that administrators set are edited, those of providers only shown.

import { useId } from "react";
import { useLoaded } from "../area/parts.tsx";
import type { Group } from "../../run/admin.ts";
import { Adder, Field, Row, textOf, useAdmin, useSettingsText, Waiting } from "./parts.tsx";

/** Groups lists the groups at a path of the API. */
export default function Groups({ path, mayEdit }: { path: string; mayEdit: boolean }): React.ReactNode {
  const s = useSettingsText();
  const id = useId();
  const admin = useAdmin();
  const loaded = useLoaded(path, () => admin.list<Group>(path));
  const known = useLoaded("known groups", () => admin.get<{ groups: string[] }>("/subjects"));
  const { value, after } = loaded;
  if (!value) return <Waiting loaded={loaded} />;
  const own = value.filter(({ source }) => !source).map(({ name }) => name);
  const set = (groups: string[]): Promise<unknown> => after(() => admin.put(path, { groups }));
  return (
    <>
      <p className="quiet">{s(value.length > 0 ? "groups_hint" : "groups_none")}</p>
      {value.length > 0 && (
        <ul className="entries settings-list" aria-label={s("groups")}>
          {value.map(({ name, source }) => (
            <Row
              key={`${source ?? ""} ${name}`}
              title={name}
              facts={[source && s("group_from", source)]}
              {...(source || !mayEdit ? {} : {
                lost: s("group_lost"), remove: () => set(own.filter((each) => each !== name)),
              })}
            />
          ))}
        </ul>
      )}
      {mayEdit && (
        <Adder
          label={s("group_add")} submit={s("group_add")}
          onSubmit={(values) => set([...new Set([...own, textOf(values, "group")])])}
        >
          <Field label={s("group_name")} name="group" required maxLength={255} list={id} />
          <datalist id={id}>
            {(known.value?.groups ?? []).map((name) => <option key={name} value={name} />)}
          </datalist>
        </Adder>
      )}
    </>
  );
}
