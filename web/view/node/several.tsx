// Several selected steps: what can be done with all of them, and the settings of steps of one kind.

import { lazy, Suspense, useMemo } from "react";
import type { ComponentSpec } from "@easel/engine";
import type { CanvasNode } from "../../canvas/drawing.ts";
import { own, type Params } from "../../canvas/dsl.ts";
import { same } from "../../canvas/patch.ts";
import { useApp, useSpecText, useStore, useText } from "../context.tsx";
import type { Command } from "../edit/commands.ts";
import { SettingsContext, type Settings } from "../form/params.tsx";
import { Icon, iconOfNode } from "../icons.tsx";
import { titled } from "../text.ts";
import { useNodeText } from "./text.ts";

const SettingsForm = lazy(() => import("../form/form.tsx"));

const none: Params = {};

/** Several shows the selected steps. */
export function Several({ nodes, commands }: {
  nodes: readonly CanvasNode[]; commands: readonly Command[];
}): React.ReactNode {
  const t = useText();
  const n = useNodeText();
  const words = useSpecText();
  const { session } = useApp();
  const [first] = nodes;
  const kind = nodes.every((node) => node.kind === first?.kind && node.role === "node") ? first?.kind : undefined;
  const spec = useStore(session.specs, (specs) => (kind === undefined ? undefined : specs.get(kind)));
  const params = useMemo(() => common(nodes), [nodes]);
  const ids = useMemo(() => nodes.map(({ id }) => id), [nodes]);
  const shown = useMemo(() => spec && shared(spec), [spec]);
  // Tools do not run alone, and neither do several steps.
  const settings = useMemo((): Settings => ({
    params, tool: true, set: (changes) => session.editing.each(ids, changes),
  }), [params, ids, session]);
  return (
    <div className="inspector several">
      <header>
        <div className="node-title">
          <h2>{n("several", nodes.length)}</h2>
          <p className="quiet small">{kind !== undefined && words(titled(spec, kind))}</p>
        </div>
      </header>
      <div className="actions" role="group" aria-label={n("several_acts")}>
        {commands.map(({ label, icon, run }) => {
          const isIcon = label.startsWith("align.");
          return (
            <button
              key={label} type="button" className={isIcon ? "icon-button" : undefined} title={t(label)}
              aria-label={t(label)} onClick={run}
            >
              <Icon name={icon} />{!isIcon && t(label)}
            </button>
          );
        })}
      </div>
      <ul className="several-steps">
        {nodes.map((node) => <li key={node.id}><Icon name={iconOfNode(node)} /> {node.name || node.kind}</li>)}
      </ul>
      {spec ? (
        <>
          <p className="quiet small">{n("several_common", nodes.length)}</p>
          <SettingsContext value={settings}>
            <Suspense fallback={<span className="spinner" />}>
              <SettingsForm
                key={ids.join(" ")} node={ids[0] ?? ""} spec={shown} params={params} changed={none} searchable
                onChange={(key, value) => session.editing.each(ids, { [key]: value })}
              />
            </Suspense>
          </SettingsContext>
        </>
      ) : <p className="quiet small">{n("several_mixed")}</p>}
    </div>
  );
}

// What belongs to one step: its edges, its tools, and outputs that others refer to.
const ofOne: ReadonlySet<string> = new Set(["branches", "targets", "outputs", "tools"]);

// shared returns a component without the settings that belong to one step.
function shared(spec: ComponentSpec): ComponentSpec {
  const branching = new Set(spec.branches?.map(({ param }) => param));
  const properties = Object.fromEntries(Object.entries(spec.params?.properties ?? {}).filter(
    ([name, schema]) => !branching.has(name) && !ofOne.has(schema["x-easel"]?.widget ?? "")));
  return { ...spec, params: { ...spec.params, properties } };
}

// common returns the settings that are the same in all steps; others are shown as if untouched.
function common(nodes: readonly CanvasNode[]): Params {
  const [first, ...others] = nodes;
  return Object.fromEntries(Object.entries(first?.params ?? {}).filter(([name, value]) =>
    others.every(({ params }) => same(own(params, name), value))));
}
