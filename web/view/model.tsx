// The choice of the model.

import { choices } from "../run/model-names.ts";
import type { ProviderKind } from "../run/providers.ts";
import { useApp, useStore, useText } from "./context.tsx";
import { SignIn } from "./host.tsx";
import { LocalList } from "./locals.tsx";
import { ModelTest } from "./model-test.tsx";
import { PluginList } from "./plugins.tsx";

const kinds: ProviderKind[] = ["offline", "scripted", "openai", "host", "replay"];

/** ModelDialog is a dialog's content. */
export default function ModelDialog({ onDone }: { onDone(): void }): React.ReactNode {
  const t = useText();
  const { session, host } = useApp();
  const { status, models, answers } = useStore(host.state, (state) => state);
  const choice = useStore(session.player.provider, (provider) => provider);
  const { recorded } = session.player.providers;
  const set = (part: Partial<typeof choice>): void => session.player.provider.set({ ...choice, ...part });
  return (
    <>
      <form onSubmit={(event) => { event.preventDefault(); onDone(); }}>
        <h2 id="dialog-title">{t("model.title")}</h2>
        <fieldset>
          <legend className="sr">{t("model.title")}</legend>
          {kinds.map((kind) => (
            <label key={kind} className="choice" data-chosen={choice.kind === kind || undefined}>
              <input type="radio" name="kind" checked={choice.kind === kind} disabled={kind === "replay" && session.player.providers.recorded === 0} onChange={() => { set({ kind, model: "" }); if (kind === "host" && status !== "open") void host.connect(); }} />
              <span><b>{t(`model.${kind}`)}</b><small>{kind === "replay" && recorded === 0 ? t("model.replay.none") : t(`model.${kind}.hint`, recorded)}</small></span>
            </label>
          ))}
        </fieldset>
        {choice.kind === "scripted" && (
          <label className="field">{t("model.script")}<textarea rows={4} value={choice.script} onChange={(event) => set({ script: event.target.value })} /></label>
        )}
        {choice.kind === "openai" && (
          <>
            <label className="field">{t("model.url")}<input type="url" required value={choice.url} onChange={(event) => set({ url: event.target.value })} /></label>
            <label className="field">{t("model.key")}<input type="password" autoComplete="off" value={choice.key} onChange={(event) => set({ key: event.target.value })} /></label>
          </>
        )}
        {(choice.kind === "openai" || choice.kind === "host") && (
          <>
            <label className="field">{t("model.name")}<input type="text" list="model-names" value={choice.model} placeholder={choice.kind === "host" && answers ? t("model.own_or", answers) : t("model.own")} onChange={(event) => set({ model: event.target.value })} /></label>
            <datalist id="model-names">{choice.kind === "host" && choices(models).map((name) => <option key={name} value={name} />)}</datalist>
            {(choice.kind === "openai" || status === "open") && (
              <ModelTest key={`${choice.kind} ${choice.url} ${choice.model}`} choice={choice} name={choice.model} />
            )}
            <label className="field row"><input type="checkbox" checked={choice.tools} onChange={(event) => set({ tools: event.target.checked })} />{t("model.tools")}</label>
          </>
        )}
        <label className="field row"><input type="checkbox" checked={choice.standIns} onChange={(event) => set({ standIns: event.target.checked })} />{t("model.stand_ins")}</label>
        <button type="submit" className="primary wide">{t("model.done")}</button>
      </form>
      <PluginList />
      <LocalList />
      {choice.kind === "host" && status === "closed" && <SignIn />}
      {choice.kind === "host" && status === "none" && <p className="fault" role="alert">{t("host.no_models")}</p>}
    </>
  );
}
