// Model servers on the machine of the host, which are looked for on request.

import { useState } from "react";
import type { Found, Provider } from "../../run/admin.ts";
import type { SettingsText } from "../../words/settings.ts";
import { Fault, useAttempt } from "../area/parts.tsx";
import { useAdmin, useSettingsText } from "./parts.tsx";

const mostNamed = 3;

function namesOf({ models }: Found, s: SettingsText): string {
  const names = models.slice(0, mostNamed).map(({ name }) => name);
  const more = models.length - names.length;
  return [...names, ...(more > 0 ? [s("local_more", more)] : [])].join(", ");
}

/** LocalProviders looks for servers and offers to add those that answer. */
export function LocalProviders({
  providers,
  onAdd,
}: {
  providers: Provider[];
  onAdd(name: string, body: object): Promise<void>;
}): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const attempt = useAttempt();
  const [found, setFound] = useState<Found[]>();
  const find = async (): Promise<void> => {
    setFound(undefined);
    setFound((await admin.post<{ items: Found[] }>("/local-providers", {})).items);
  };
  const isAdded = ({ base_url }: Found): boolean => providers.some((each) => each.base_url === base_url);
  return (
    <section className="settings-part local-providers">
      <button type="button" disabled={attempt.busy} onClick={() => void attempt.run(find)}>
        {s(attempt.busy ? "local_finding" : "local_find")}
      </button>
      <Fault text={attempt.fault} />
      {found?.length === 0 && (
        <p className="quiet" role="status">
          {s("local_none")}
        </p>
      )}
      {found && found.length > 0 && (
        <ul className="entries settings-list" aria-label={s("local_found")}>
          {found.map((each) => (
            <li key={each.name}>
              <div className="what">
                <b>{each.name}</b>
                <small>{[each.base_url, namesOf(each, s)].join(" · ")}</small>
              </div>
              <button
                type="button"
                disabled={attempt.busy || isAdded(each)}
                aria-label={`${s("add")}: ${each.name}`}
                onClick={() =>
                  void attempt.run(() => onAdd(each.name, { api: each.api, base_url: each.base_url, local: true }))
                }
              >
                {s(isAdded(each) ? "local_added" : "add")}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
