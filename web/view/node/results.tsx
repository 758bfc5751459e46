// What a node gave in the shown run, and what it used for that. Before a run: what it will give.

import { useState } from "react";
import type { ModelUse, Step } from "@easel/engine/state";
import type { CanvasNode } from "../../canvas/drawing.ts";
import { outputsOf } from "../../canvas/upstream.ts";
import { useApp, useSpecText, useStore, useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { Markdown } from "../markdown.tsx";
import { bare, seconds, sentence, show } from "../text.ts";
import { Value } from "../value.tsx";
import { useNodeText } from "./text.ts";

/** Results shows a step, or the outputs that a node offers. */
export function Results({ node, step }: { node: CanvasNode; step: Step | undefined }): React.ReactNode {
  const n = useNodeText();
  const words = useSpecText();
  const { session } = useApp();
  const specs = useStore(session.specs, (all) => all);
  if (step) return <Did step={step} />;
  const offered = outputsOf(node, specs);
  if (offered.length === 0) return <p className="quiet small">{n("out_nothing")}</p>;
  return (
    <>
      <p className="quiet small">{n("out_none")}</p>
      <ul className="offered">
        {offered.map(({ name, type, about }) => (
          <li key={name} className="quiet">
            <b>{name}</b> <small>{words(type)}</small>
            {about && <small className="offered-about">{sentence(words(about))}</small>}
          </li>
        ))}
      </ul>
    </>
  );
}

// Outputs lists values with their sizes; texts can be shown as they are formatted.
function Outputs({ values }: { values: Record<string, unknown> }): React.ReactNode {
  const t = useText();
  const n = useNodeText();
  const [formatted, setFormatted] = useState(false);
  const [copied, setCopied] = useState<string>();
  const entries = Object.entries(values);
  if (entries.length === 0) return null;
  const long = entries.some(([, value]) => typeof value === "string" && value.length > 60);
  return (
    <section className="values" aria-label={t("node.outputs")}>
      <h3>{t("node.outputs")}</h3>
      {long && (
        <label className="row">
          <input type="checkbox" checked={formatted} onChange={(event) => setFormatted(event.target.checked)} />
          {n("rendered")}
        </label>
      )}
      {entries.map(([name, value]) => (
        <div key={name} className="given-value">
          {formatted && typeof value === "string" && value.length > 60
            ? <div className="value formatted"><span className="value-name">{name}</span><Markdown text={value} /></div>
            : <Value name={name} value={value} />}
          <button
            type="button" className="icon-button" aria-label={copied === name ? n("copied") : n("copy", name)}
            title={`${n("copy", name)} · ${n("size", show(value).length)}`}
            onClick={() => void navigator.clipboard?.writeText(show(value)).then(() => setCopied(name))}
          >
            <Icon name={copied === name ? "check" : "copy"} />
          </button>
        </div>
      ))}
    </section>
  );
}

// Did shows what a step did in a run.
function Did({ step }: { step: Step }): React.ReactNode {
  const t = useText();
  const words = useSpecText();
  return (
    <>
      <p className="small did" data-status={step.status}>
        <b>{t(`status.${step.status}`)}</b>
        {step.elapsed !== undefined && <span>{seconds(step.elapsed)}</span>}
        {Boolean(step.usage?.total_tokens) && <span>{t("node.tokens", step.usage?.total_tokens ?? 0)}</span>}
      </p>
      {step.error && (
        <section aria-label={t("node.error")}>
          <h3>{t("node.error")}</h3>
          <pre className="fault" tabIndex={0}>
            {step.error}
          </pre>
        </section>
      )}
      {step.thoughts && <p className="small quiet">{words(step.thoughts)}</p>}
      <Outputs values={bare(step.outputs)} />
      {step.tools.length > 0 && (
        <section className="values" aria-label={t("node.tools")}>
          <h3>{t("node.tools")}</h3>
          {step.tools.map((use, i) => (
            <details key={i} className="value">
              <summary>
                <span className="value-name">{use.name}</span>{" "}
                {use.elapsed !== undefined && <span className="quiet">{seconds(use.elapsed)}</span>}
              </summary>
              <Value name={t("node.arguments")} value={use.arguments} />
              <Value name={use.error ? t("node.error") : t("node.result")} value={use.error ?? use.result ?? null} />
            </details>
          ))}
        </section>
      )}
      {step.models.length > 0 && (
        <section className="values" aria-label={t("node.prompts")}>
          <h3>{t("node.prompts")}</h3>
          {step.models.map((use) => (
            <Prompt key={use.call} use={use} />
          ))}
        </section>
      )}
    </>
  );
}

function Prompt({ use }: { use: ModelUse }): React.ReactNode {
  const t = useText();
  return (
    <details className="value">
      <summary>
        <span className="value-name">{use.model || t("timeline.model")}</span>{" "}
        <span className="quiet">{use.usage ? t("node.tokens", use.usage.total_tokens) : ""}</span>
      </summary>
      {use.messages.map((message, i) => (
        <div key={i} className="prompt">
          <b>{message.role}</b>
          <pre tabIndex={0}>{show(message.content)}</pre>
        </div>
      ))}
      {use.text !== undefined && (
        <div className="prompt answer">
          <b>{t("node.answer")}</b>
          <pre tabIndex={0}>{use.text}</pre>
        </div>
      )}
      {use.error && (
        <pre className="fault" tabIndex={0}>
          {use.error}
        </pre>
      )}
    </details>
  );
}
