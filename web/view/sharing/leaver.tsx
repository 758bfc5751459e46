// What a user has before the user is deleted: it is handed over to another one, or ends.

import { useState } from "react";
import type { Admin, User } from "../../run/admin.ts";
import { Fault, useAttempt, useLoaded } from "../area/parts.tsx";
import { useApp, useStore } from "../context.tsx";
import { Waiting } from "../settings/parts.tsx";
import { useSharingText } from "./text.ts";
import { shown } from "../../words/shown.ts";

/** Belongings are the numbers of what a user has. */
type Belongings = Record<(typeof kinds)[number], number>;

const kinds = [
  "canvases", "datasets", "memories", "published", "drafts", "pipelines", "keys", "embed_tokens", "schedules", "waits",
] as const;

const objects: ReadonlySet<string> = new Set(["canvases", "datasets", "memories"]);

/** Leaver deletes a user. */
export default function Leaver({ admin, user, users, onRemove }: {
  admin: Admin;
  user: User;
  /** Who may get what the user has. */
  users: readonly User[];
  onRemove(act: () => Promise<unknown>): Promise<unknown>;
}): React.ReactNode {
  const s = useSharingText();
  const path = `/users/${encodeURIComponent(user.id)}`;
  const loaded = useLoaded(path, () => admin.get<Belongings>(`${path}/belongings`));
  const attempt = useAttempt();
  const [to, setTo] = useState("");
  const [withKeys, setWithKeys] = useState(false);
  const me = useStore(useApp().host.state, ({ person }) => person?.email);
  if (!loaded.value) return <Waiting loaded={loaded} />;
  const has = loaded.value;
  const some = kinds.filter((kind) => has[kind] > 0);
  // Only who deletes agrees to be who acts: what others have private stays private.
  const heir = users.find(({ id }) => id === to);
  const agrees = heir !== undefined && heir.email === me;
  const isHandedOver = (kind: (typeof kinds)[number]): boolean => {
    if (objects.has(kind)) return to !== "";
    if (kind === "keys" || kind === "embed_tokens") return agrees && withKeys;
    return agrees && kind !== "waits";
  };
  const name = user.nickname || user.email;
  return (
    <form
      className="fields"
      onSubmit={(event) => {
        event.preventDefault();
        const over = new URLSearchParams({ hand_over_to: to, hand_over_keys: String(agrees && withKeys) });
        const query = to ? `?${over}` : "";
        void attempt.run(() => onRemove(() => admin.remove(path + query)));
      }}
    >
      <p>{s(some.length > 0 ? "leaver_has" : "leaver_nothing", name)}</p>
      {some.length > 0 && (
        <ul className="leaver" aria-label={s("leaver_has", name)}>
          {some.map((kind) => (
            <li key={kind}>
              <b>{s(`has_${kind}`, has[kind])}</b>
              <small>{s(isHandedOver(kind) ? "handed_over" : `ends_${kind}`)}</small>
            </li>
          ))}
        </ul>
      )}
      <label className="field">
        {s("hand_over")}
        <select value={to} onChange={({ target }) => setTo(target.value)}>
          <option value="">{s("hand_to_none")}</option>
          {users.map(({ id, email, nickname }) => (
            <option key={id} value={id}>{nickname ? `${shown(nickname)} (${shown(email)})` : shown(email)}</option>
          ))}
        </select>
      </label>
      {agrees && has.keys + has.embed_tokens > 0 && (
        <label className="field row">
          <input type="checkbox" checked={withKeys} onChange={({ target }) => setWithKeys(target.checked)} />
          {s("hand_keys", name)}
        </label>
      )}
      <p className="quiet small">{s(agrees ? "hand_over_hint" : to ? "hand_objects_hint" : "leaver_login")}</p>
      <Fault text={attempt.fault} />
      <button type="submit" className="danger" disabled={attempt.busy}>{s("leaver_delete", name)}</button>
    </form>
  );
}
