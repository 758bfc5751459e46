// What a node was given in the shown run, by its source. A value is inserted into a field by drag,
// by click or by Enter.

import { useEffect, useRef, useState } from "react";
import type { Step } from "@easel/engine/state";
import { isObject, own, type Params } from "../../canvas/dsl.ts";
import type { CanvasNode } from "../../canvas/drawing.ts";
import { useApp, useStore, useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { Value } from "../value.tsx";
import { useNodeText } from "./text.ts";

/** Given lists the inputs; onInsert is called when a value goes to a field. */
export function Given({ node, step, wide, onInsert }: {
  node: CanvasNode; step: Step | undefined; wide: boolean; onInsert(): void;
}): React.ReactNode {
  const n = useNodeText();
  const t = useText();
  const { session } = useApp();
  const model = useStore(session.document, (document) => document?.model);
  const [told, setTold] = useState("");
  const field = useLastField(node.id);
  if (!step) return <p className="quiet small">{n("in_none")}</p>;
  const inputs = Object.entries(step.inputs ?? {}).map(([name, value]): Input => {
    const ref = refOf(name, node.params);
    const [source = ""] = ref?.includes("@") ? ref.split("@") : [];
    const title = model?.byId.get(source)?.name ?? source;
    const label = name === ref && source !== "" ? `${title} · ${ref.slice(source.length + 1)}` : name;
    return { name, ref, label, value };
  });
  if (inputs.length === 0) return <p className="quiet small">{n("in_empty")}</p>;
  const insert = (ref: string): void => {
    if (field.current?.isConnected && wide) {
      field.current.focus();
      document.execCommand("insertText", false, `{${ref}}`);
      return setTold(n("in_inserted"));
    }
    void navigator.clipboard?.writeText(`{${ref}}`);
    setTold(n("in_copied"));
    onInsert();
  };
  return (
    <section className="values" aria-label={t("node.inputs")}>
      <p className="quiet small" role="status">{told || n("in_hint")}</p>
      {inputs.map(({ name, ref, label, value }) => (
        <div
          key={name} className="given-value" draggable={ref !== undefined}
          onDragStart={(event) => event.dataTransfer.setData("text/plain", `{${ref}}`)}
        >
          <Value name={label} value={value} />
          {ref !== undefined && (
            <button
              type="button" className="icon-button" aria-label={n("in_insert", label)} title={n("in_insert", label)}
              onPointerDown={(event) => event.preventDefault()} onClick={() => insert(ref)}
            >
              <Icon name="plus" />
            </button>
          )}
        </div>
      ))}
    </section>
  );
}

interface Input {
  name: string;
  /** What a text refers to it by, if it can. */
  ref: string | undefined;
  label: string;
  value: unknown;
}

// refOf returns the reference of an input: its name, or what the settings give under its name.
function refOf(name: string, params: Params): string | undefined {
  if (isReference(name)) return name;
  for (const param of Object.values(params)) {
    const value = isObject(param) ? own(param, name) : undefined;
    const ref = typeof value === "string" ? value.replace(/^\{(.*)\}$/, "$1") : "";
    if (isReference(ref)) return ref;
  }
  return undefined;
}

function isReference(text: string): boolean {
  return /^([\w:-]+@|sys\.|env\.)[\w.-]+$/.test(text);
}

// useLastField remembers the text of the settings that last had the focus.
function useLastField(node: string): React.RefObject<HTMLElement | null> {
  const field = useRef<HTMLElement>(null);
  useEffect(() => {
    field.current = null;
    const panel = document.querySelector(".panel");
    const focused = (event: Event): void => {
      const path = event.composedPath();
      const [target] = path; // an editor stands in a shadow root
      if (!(target instanceof HTMLElement) || !target.matches(".cm-content, textarea")) return;
      if (path.some((each) => each instanceof Element && each.matches(".settings"))) field.current = target;
    };
    panel?.addEventListener("focusin", focused);
    return () => panel?.removeEventListener("focusin", focused);
  }, [node]);
  return field;
}
