// The settings of a canvas: limits of its runs, the order of its steps, what models get, approvals.

import type { ComponentSpec } from "@easel/engine";
import { isObject, own, type Params } from "../canvas/dsl.ts";
import { fieldOf } from "../canvas/problems.ts";
import { useApp, useSpecText, useStore, useText } from "./context.tsx";
import SettingsForm from "./form/form.tsx";
import { settingsSchema } from "./form/settings.generated.ts";
import { Reason } from "./reason.tsx";
import { JsonEdit } from "./value.tsx";

const spec: ComponentSpec = { name: "settings", category: "flow", group: "flow", icon: "box", params: settingsSchema };
const nothing: Params = {};

/** CanvasSettings edits the settings of the open canvas. */
export default function CanvasSettings({ onDone }: { onDone(): void }): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const settings = useStore(session.document, (document) => document?.dsl["settings"]);
  const problems = useStore(session.problems, (all) => all);
  const words = useSpecText();
  const labelOf = (param: string): string =>
    fieldOf(param, spec).map((part) => (typeof part === "number" ? part : words(part))).join(" ");
  const mine = problems.flatMap((problem) => {
    const [, name = ""] = /^settings(?:\.(.+))?$/.exec(problem.param ?? "") ?? [];
    return problem.node || !/^settings(\.|$)/.test(problem.param ?? "") ? [] : [{ ...problem, param: name }];
  });
  const inForm = mine.filter(({ param }) => own(settingsSchema.properties ?? {}, param) !== undefined);
  const readable = settings === undefined || settings === null || isObject(settings);
  return (
    <>
      <h2 id="dialog-title">{t("canvas.settings")}</h2>
      <p className="quiet">{t("canvas.settings_about")}</p>
      {mine.filter((problem) => !inForm.includes(problem)).map(({ code, message, param }) => (
        <p key={param} className="missing" role="alert">
          {param && <b title={param}>{labelOf(param)}</b>} <Reason code={code} message={message} most={300} />
        </p>
      ))}
      {readable ? (
        <SettingsForm
          node="" spec={spec} params={isObject(settings) ? settings : nothing} changed={nothing} problems={inForm}
          onChange={(name, value) => session.editing.setting(name, value)}
        />
      ) : (
        <JsonEdit
          value={settings} label={t("form.json", t("canvas.settings"))} action={t("model.done")}
          onDone={(value) => session.editing.settings(value)}
        />
      )}
      <button type="button" className="primary" onClick={onDone}>{t("model.done")}</button>
    </>
  );
}
