// The settings of a canvas: limits of its runs, the order of its steps, what models get, approvals.

import type { ComponentSpec } from "@easel/engine";
import { isObject, type Params } from "../canvas/dsl.ts";
import { fieldOf } from "../canvas/problems.ts";
import { useApp, useSpecText, useStore, useText } from "./context.tsx";
import SettingsForm from "./form/form.tsx";
import { settingsSchema } from "./form/settings.generated.ts";
import { Reason } from "./reason.tsx";

const spec: ComponentSpec = { name: "settings", category: "flow", icon: "box", params: settingsSchema };
const nothing: Params = {};

/** CanvasSettings edits the settings of the open canvas. */
export default function CanvasSettings({ onDone }: { onDone(): void }): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const settings = useStore(session.document, (document) => document?.dsl["settings"]);
  const problems = useStore(session.problems, (all) => all);
  const words = useSpecText();
  const labelOf = (param: string): string =>
    fieldOf(param.replace("settings.", ""), spec)
      .map((part) => (typeof part === "number" ? part : words(part))).join(" ");
  const mine = problems.filter(({ node, param }) => !node && param?.startsWith("settings."));
  return (
    <>
      <h2 id="dialog-title">{t("canvas.settings")}</h2>
      <p className="quiet">{t("canvas.settings_about")}</p>
      {mine.map(({ code, message, param }) => (
        <p key={param} className="missing">
          <b title={param}>{labelOf(param ?? "")}</b> <Reason code={code} message={message} most={300} />
        </p>
      ))}
      <SettingsForm
        node="" spec={spec} params={isObject(settings) ? settings : nothing} changed={nothing}
        onChange={(name, value) => session.editing.setting(name, value)}
      />
      <button type="button" className="primary" onClick={onDone}>{t("model.done")}</button>
    </>
  );
}
