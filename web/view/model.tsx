// The choice of who answers.

import type { ProviderKind } from "../run/providers.ts";
import { useApp, useStore, useText } from "./context.tsx";

const kinds: ProviderKind[] = ["offline", "scripted", "openai", "host", "replay"];

/** ModelDialog is a dialog's content. */
export function ModelDialog({ onDone }: { onDone(): void }): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const choice = useStore(session.player.provider, (provider) => provider);
  const set = (part: Partial<typeof choice>): void => session.player.provider.set({ ...choice, ...part });
  return (
    <form onSubmit={(event) => { event.preventDefault(); onDone(); }}>
      <h2 id="model-title">{t("model.title")}</h2>
      <fieldset>
        <legend className="sr">{t("model.title")}</legend>
        {kinds.map((kind) => (
          <label key={kind} className="choice" data-chosen={choice.kind === kind || undefined}>
            <input type="radio" name="kind" checked={choice.kind === kind} disabled={kind === "replay" && session.player.providers.recorded === 0} onChange={() => set({ kind })} />
            <span><b>{t(`model.${kind}`)}</b><small>{t(`model.${kind}.hint`, session.player.providers.recorded)}</small></span>
          </label>
        ))}
      </fieldset>
      {choice.kind === "scripted" && (
        <label className="field">{t("model.script")}<textarea rows={4} value={choice.script} onChange={(event) => set({ script: event.target.value })} /></label>
      )}
      {choice.kind === "openai" && (
        <>
          <label className="field">{t("model.url")}<input type="url" required value={choice.url} onChange={(event) => set({ url: event.target.value })} /></label>
          <label className="field">{t("model.name")}<input type="text" value={choice.model} onChange={(event) => set({ model: event.target.value })} /></label>
          <label className="field">{t("model.key")}<input type="password" autoComplete="off" value={choice.key} onChange={(event) => set({ key: event.target.value })} /></label>
        </>
      )}
      <button type="submit" className="primary wide">{t("model.done")}</button>
    </form>
  );
}
