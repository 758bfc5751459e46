// Where a person is logged in: the own logins in the dialog of the account, those of others in the
// list of users.

import { Confirm, Fault, useAttempt, useLoaded } from "../area/parts.tsx";
import type { Login } from "../../run/admin.ts";
import { Row, useAdmin, useFormats, useSettingsText, Waiting } from "./parts.tsx";

/**
 * Logins lists the logins at a path of the API, and ends them one by one or, for others, together.
 */
export default function Logins({ path }: { path: string }): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const { time } = useFormats();
  const loaded = useLoaded(path, () => admin.list<Login>(path));
  const attempt = useAttempt();
  const { value, after } = loaded;
  if (!value) return <Waiting loaded={loaded} />;
  const via = (way: string): string => {
    if (way === "password" || way === "link") return s(`login_${way}`);
    return way.startsWith("oidc:") ? s("login_at", way.slice("oidc:".length)) : way;
  };
  return (
    <>
      {value.length === 0 && <p className="quiet">{s("logins_none")}</p>}
      {value.length > 0 && (
        <ul className="entries settings-list" aria-label={s("logins")}>
          {value.map(({ id, via: way, address, agent, current, created, expires }) => (
            <Row
              key={id}
              title={agent || s("login_unknown")}
              {...(current ? { badge: s("login_current") } : {})}
              facts={[via(way), address, s("login_since", time(created)), s("key_until", time(expires))]}
              {...(current ? {} : {
                end: s("login_end"),
                remove: () => after(() => admin.remove(`${path}/${encodeURIComponent(id)}`)),
              })}
            />
          ))}
        </ul>
      )}
      {value.length > 1 && path !== "/me/logins" && (
        <Confirm
          label={s("logins_end")}
          sure={s("login_sure")}
          disabled={attempt.busy}
          onDone={() => void attempt.run(() => after(() => admin.remove(path)))}
        />
      )}
      <Fault text={attempt.fault} />
    </>
  );
}
