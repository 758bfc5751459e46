// The model that answers, and the way to the first one.

import { areaLink } from "./areas.tsx";
import { useApp, useStore, useText } from "./context.tsx";
import { Icon } from "./icons.tsx";

/** useModelName returns the name of what answers. */
export function useModelName(): string {
  const t = useText();
  const { session, host } = useApp();
  const { kind, model } = useStore(session.player.provider, (choice) => choice);
  const answers = useStore(host.state, (state) => state.answers);
  return (kind === "host" && (model || answers)) || t(`model.${kind}`);
}

/** useNeedsModel reports whether a step of the open canvas uses a model. */
export function useNeedsModel(): boolean {
  const { session } = useApp();
  const specs = useStore(session.specs, (all) => all);
  const components = useStore(session.document, (document) => document?.dsl.components);
  return Object.values(components ?? {}).some(({ obj }) => {
    const { properties = {} } = specs.get(obj.component_name)?.params ?? {};
    return Object.hasOwn(properties, "llm_id");
  });
}

/** AddModel leads to the providers of the host, or else to the choice of a model. */
export function AddModel(): React.ReactNode {
  const t = useText();
  const { host, look } = useApp();
  const { status, answers, scopes } = useStore(host.state, (state) => state);
  if (status === "open" && answers === "" && scopes.includes("admin")) {
    return <a href={areaLink("settings", "models")}>{t("model.add")}</a>;
  }
  return (
    <button type="button" className="link" onClick={() => look.update({ dialog: "model" })}>
      {t("model.choose")}
    </button>
  );
}

/** NoModel is shown while no language model answers. */
export function NoModel(): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const offline = useStore(session.player.provider, ({ kind }) => kind === "offline");
  if (!offline) return null;
  return (
    <p className="no-model">
      <Icon name="spark" />
      <span>
        {t("model.none")} <AddModel />
      </span>
    </p>
  );
}
