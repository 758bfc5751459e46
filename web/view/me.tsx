// Who is signed in, in the bar; the dialog behind it is loaded when it is opened.

import { useApp, useStore, useText } from "./context.tsx";
import { Icon } from "./icons.tsx";
import { shown } from "../words/shown.ts";

/** Me names the person, or leads to the sign-in; on a server without canvases it is nothing. */
export function Me(): React.ReactNode {
  const t = useText();
  const { host, look } = useApp();
  const { status, name } = useStore(host.state, (state) => state);
  if (status === "none") return null;
  const label = status === "open" ? t("me.account", name) : t("me.sign_in");
  return (
    <button
      type="button" className="action me" title={label} aria-label={label} aria-haspopup="dialog"
      disabled={status === "asking"} onClick={() => look.update({ dialog: "person" })}
    >
      <Icon name="person" />
      <span className="action-label">{status === "open" ? shown(name) : label}</span>
    </button>
  );
}
