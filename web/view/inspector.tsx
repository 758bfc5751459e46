// One node: its head. The rest of it is loaded when it is first shown.

import { lazy, Suspense, useMemo } from "react";
import type { CanvasNode } from "../canvas/drawing.ts";
import { useApp, useLook, useSpecText, useStore, useText } from "./context.tsx";
import { useSelectionCommands } from "./edit/commands.ts";
import { useEdited } from "./edit/state.ts";
import { hueOf, Icon, iconOfNode } from "./icons.tsx";
import { titled } from "./text.ts";

const load = (): Promise<typeof import("./node/parts.tsx")> => import("./node/parts.tsx");
const NodeParts = lazy(load);
const Several = lazy(() => load().then((parts) => ({ default: parts.Several })));

/** preloadForm fetches what shows a node when the page has nothing else to do. */
export function preloadForm(): () => void {
  const idle = setTimeout(() => void Promise.all([load(), import("./form/form.tsx")]).catch(() => undefined), 400);
  return () => clearTimeout(idle);
}

/** Inspector returns a page of the drawer. */
export function Inspector(): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const selected = useLook((look) => look.selected);
  const node = useStore(session.document, (document) => (selected ? document?.model.byId.get(selected) : undefined));
  const edited = useEdited();
  const chosen = useStore(edited, (state) => state.nodes);
  const model = useStore(session.document, (document) => document?.model);
  const several = useMemo(() => (chosen.length < 2 ? [] : chosen.flatMap((id) => model?.byId.get(id) ?? [])
    .filter(({ role }) => role === "node" || role === "group")), [chosen, model]);
  const commands = useSelectionCommands();
  if (several.length > 1) return <Suspense><Several nodes={several} commands={commands} /></Suspense>;
  if (!node) return <p className="quiet">{t("node.none")}</p>;
  return <Node key={node.id} node={node} />;
}

function Node({ node }: { node: CanvasNode }): React.ReactNode {
  const t = useText();
  const words = useSpecText();
  const { session } = useApp();
  const edited = useEdited();
  const spec = useStore(session.specs, (specs) => specs.get(node.kind));
  const history = useStore(session.document, (document) => document?.history);
  const edits = useMemo(() => history?.edited(node.id) ?? {}, [history, node.id]);
  return (
    <div className="inspector" data-node={node.id}>
      <header data-hue={hueOf(spec)}>
        <span className="glyph">
          <Icon name={iconOfNode(node)} />
        </span>
        <div className="node-title">
          <h2 className="sr">{node.name || node.kind}</h2>
          <input
            className="node-name"
            aria-label={t("edit.name")}
            value={node.name}
            onChange={(event) => session.editing.rename(node.id, event.target.value)}
          />
          <p className="quiet small" title={words(spec?.description ?? "")}>
            {words(titled(node.spec, node.kind))} · <code>{node.kind}</code>
          </p>
        </div>
        <button
          type="button" className="icon-button" aria-label={t("edit.help")} title={t("edit.help")}
          onClick={() => edited.update({ overlay: "help" })}
        >
          <Icon name="help" />
        </button>
      </header>
      <Suspense fallback={<span className="spinner" />}>
        <NodeParts node={node} edits={edits} />
      </Suspense>
    </div>
  );
}
