// The boxes of the canvas. A box subscribes to the status of its node only: an event rerenders one
// box.

import { Handle, NodeResizer, Position, useUpdateNodeInternals, type NodeProps } from "@xyflow/react";
import { createContext, memo, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { own } from "../canvas/dsl.ts";
import type { CanvasModel, CanvasNode } from "../canvas/drawing.ts";
import { handlesOf } from "../canvas/handles.ts";
import { canFail } from "../canvas/model.ts";
import { mostTools } from "../canvas/places.ts";
import type { ServerTools } from "../canvas/servers.ts";
import type { Line } from "../canvas/summary.ts";
import { serverNamed } from "../run/server-names.ts";
import { Store } from "../run/store.ts";
import { activity } from "../run/subagents.ts";
import { errorHandle } from "../canvas/edit/wires.ts";
import { shown } from "../words/shown.ts";
import { useApp, useSpecText, useStore, useText } from "./context.tsx";
import { hueOf, Icon, iconOf, iconOfNode, type IconName } from "./icons.tsx";
import { useEdited } from "./edit/state.ts";
import { Markdown } from "./markdown.tsx";
import { Marks } from "./marks.tsx";
import { RouteMark } from "./routes.tsx";
import { seconds, titled } from "./text.ts";

/**
 * DrawnContext carries the picture that the boxes show. React Flow gets what it places alone: it
 * updates everything that it draws for each change of a node.
 */
export const DrawnContext = createContext(new Store<CanvasModel["byId"]>(new Map()));

type Content = Pick<NodeProps, "id" | "selected"> & { node: CanvasNode };

// box makes a box of its content. It is empty between the removal of a node and that of its box.
function box(Content: (props: Content) => React.ReactNode): React.ComponentType<NodeProps> {
  return memo(function Box({ id, selected }: NodeProps) {
    const node = useStore(useContext(DrawnContext), (byId) => byId.get(id));
    return node && <Content id={id} selected={selected} node={node} />;
  });
}

/** BoxStatus is the state of a run that a box shows. */
interface BoxStatus {
  status: string;
  elapsed?: number;
  tokens?: number;
  runs: number;
}

// useStatus follows the status of a box: that of its node, or for a box below an agent that of its
// calls.
function useStatus({ id, member }: CanvasNode): BoxStatus {
  const { session } = useApp();
  const step = useStore(session.player.play, (play) => own(play.shown.latest, member?.node ?? id));
  return useMemo(() => {
    if (member) return activity(step, member) ?? { status: "idle", runs: 0 };
    return { status: step?.status ?? "idle", elapsed: step?.elapsed, tokens: step?.usage?.total_tokens, runs: step?.run ?? 0 };
  }, [step, member]);
}

function usePinned(id: string): boolean {
  return useStore(useApp().session.player.pins, (pins) => Object.hasOwn(pins, id));
}

function Status({ pinned, of: { status, elapsed, tokens, runs } }: { pinned?: boolean; of: BoxStatus }): React.ReactNode {
  const t = useText();
  if (status === "idle" && !pinned) return null;
  const mark: IconName | undefined = ({ succeeded: "check", failed: "cross", paused: "pause", canceled: "stop" } as Partial<Record<string, IconName>>)[status];
  return (
    <span className="status">
      {pinned && <span className="badge pinned"><Icon name="pin" />{t("status.pinned")}</span>}
      {status !== "idle" && (
        <span className="badge" title={t(`status.${status}` as "status.succeeded")}>
          {mark ? <Icon name={mark} /> : <span className="spinner" />}
          <span className="sr">{t(`status.${status}` as "status.succeeded")}</span>
          {runs > 1 && <span>×{runs}</span>}
          {elapsed !== undefined && <span>{seconds(elapsed)}</span>}
          {tokens !== undefined && <span className="tokens">{t("status.tokens", tokens)}</span>}
        </span>
      )}
    </span>
  );
}

function Off(): React.ReactNode {
  const t = useText();
  return <span className="status"><span className="badge"><Icon name="off" />{t("status.off")}</span></span>;
}

function Step({ id, node, selected }: Content): React.ReactNode {
  const words = useSpecText();
  const status = useStatus(node);
  const pinned = usePinned(id);
  useHandles(id, handlesOf(node).sources);
  return (
    <div className="box" data-off={node.off} data-pinned={pinned || undefined} data-status={status.status} data-hue={hueOf(node.spec)} data-selected={selected || undefined}>
      {node.spec?.role !== "start" && <Handle type="target" position={Position.Left} />}
      <div className="box-head">
        <span className="glyph"><Icon name={iconOfNode(node)} /></span>
        <Title name={node.name} kind={words(titled(node.spec, node.kind))} />
      </div>
      <Status pinned={pinned} of={status} />
      {node.off && <Off />}
      <RouteMark node={id} />
      <Marks id={id} />
      {node.summary.length > 0 && <Summary lines={node.summary} />}
      {node.branches.length > 0 ? (
        <ul className="branches">{node.branches.map((branch) => <BranchRow key={branch.id} node={id} id={branch.id} label={branch.label} />)}</ul>
      ) : node.spec?.role !== "sink" && <Way node={id} />}
      <Tools names={node.tools} servers={node.servers} />
      {canFail(node) && <Way node={id} branch={errorHandle} className="on-error" />}
      <Handle type="source" id="tool" className="under" position={Position.Bottom} isConnectable={false} />
    </div>
  );
}

// Title has the kind below the name, unless they are equal.
function Title({ name, kind }: { name: string; kind: string }): React.ReactNode {
  return (
    <span className="box-name">
      <b title={shown(name)}>{shown(name)}</b>
      {name.toLowerCase() !== kind.toLowerCase() && <small>{kind}</small>}
    </span>
  );
}

// useHandles lets React Flow find the handles of a box again when others take their places: it
// looks for itself only when the size of the box changes.
function useHandles(id: string, handles: readonly string[]): void {
  const update = useUpdateNodeInternals();
  const key = JSON.stringify(handles);
  const known = useRef(key);
  useLayoutEffect(() => {
    if (known.current === key) return;
    known.current = key;
    update(id);
  }, [id, key, update]);
}

function Summary({ lines }: { lines: readonly Line[] }): React.ReactNode {
  return (
    <ul className="summary">
      {lines.map((line, i) => <li key={i}>{typeof line === "string" ? line : <DatasetLine ids={line.datasets} />}</li>)}
    </ul>
  );
}

// DatasetLine names the datasets that a node searches, as far as the host knows them.
function DatasetLine({ ids }: { ids: readonly string[] }): React.ReactNode {
  const t = useText();
  const { host, session, datasetNames } = useApp();
  const signedIn = useStore(host.state, ({ status }) => status === "open");
  const allowed = useStore(session.allowed, (may) => may);
  const known = useStore(datasetNames.known, (all) => all);
  useEffect(() => {
    if (!signedIn || !allowed) return;
    for (const id of ids) if (!session.player.here.has(id)) void datasetNames.ask(id);
  }, [signedIn, allowed, ids, session, datasetNames]);
  const names = ids.map((id) => {
    const found = known.get(id);
    return typeof found === "object" && found !== null ? found.name : id;
  });
  const unnamed = names.filter((name) => generated.test(name)).length;
  if (unnamed === 0) return names.join(", ");
  const count = unnamed === 1 ? t("canvas.dataset") : t("canvas.datasets", unnamed);
  return <span title={ids.join("\n")}>{[...names.filter((name) => !generated.test(name)), count].join(", ")}</span>;
}

// generated matches dataset ids, which mean nothing to a person.
const generated = /^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i;

const noServers: ServerTools[] = [];

// Tools lists what a model may call: tools that a server has lost are not offered.
function Tools({ names, servers = noServers }: {
  names: string[];
  servers?: ServerTools[] | undefined;
}): React.ReactNode {
  const t = useText();
  const { host, serverNames } = useApp();
  const signedIn = useStore(host.state, ({ status }) => status === "open");
  const known = useStore(serverNames.known, (all) => all);
  useEffect(() => { if (signedIn && servers.length > 0) serverNames.ask(); }, [signedIn, servers, serverNames]);
  const gone: string[] = [];
  const served = servers.flatMap(({ server, tools }) => {
    const found = serverNamed(known, server);
    if (!tools) return found && found.tools.length > 0 ? found.tools : [t("canvas.all_of", found?.name ?? server)];
    if (!found || found.tools.length === 0) return tools;
    gone.push(...tools.filter((name) => !found.tools.includes(name)));
    return tools.filter((name) => found.tools.includes(name));
  });
  const all = [...names, ...served];
  if (all.length + gone.length === 0) return null;
  const rest = all.slice(mostTools);
  return (
    <ul className="chips">
      {all.slice(0, mostTools).map((name, i) => <li key={i}><Icon name="tool" />{name}</li>)}
      {rest.length > 0 && <li title={rest.join(", ")}>{t("canvas.more", rest.length)}</li>}
      {gone.length > 0 && <li data-gone title={gone.join(", ")}>{t("canvas.gone", gone.length)}</li>}
    </ul>
  );
}

// Way returns a handle that an edge is drawn from; a click adds a step behind it.
function Way({ node, branch, className = "" }: { node: string; branch?: string; className?: string }): React.ReactNode {
  const t = useText();
  const edited = useEdited();
  const label = t(branch === errorHandle ? "edit.add_error" : "edit.add_after");
  return (
    <Handle
      type="source" position={branch === errorHandle ? Position.Bottom : Position.Right} className={`way ${className}`} title={label} {...(branch === undefined ? {} : { id: branch })}
      onClick={(event) => {
        event.stopPropagation();
        const after = { node, ...(branch === undefined ? {} : { branch }) };
        edited.update({ overlay: "add", spot: { after }, at: { x: event.clientX, y: event.clientY } });
      }}
    />
  );
}

function BranchRow({ node, id, label }: { node: string; id: string; label: string }): React.ReactNode {
  const words = useSpecText();
  return (
    <li title={label}>
      <span>{words(label)}</span>
      <Way node={node} branch={id} />
    </li>
  );
}

function Group({ id, node, selected }: Content): React.ReactNode {
  const words = useSpecText();
  const status = useStatus(node);
  const pinned = usePinned(id);
  useHandles(id, handlesOf(node).sources);
  return (
    <div className="group" data-off={node.off} data-pinned={pinned || undefined} data-status={status.status} data-hue="flow" data-selected={selected || undefined}>
      <NodeResizer isVisible={selected} minWidth={240} minHeight={140} />
      <Handle type="target" position={Position.Left} />
      <div className="box-head">
        <span className="glyph"><Icon name={iconOfNode(node)} /></span>
        <Title name={node.name} kind={words(titled(node.spec, node.kind))} />
        <Status pinned={pinned} of={status} />
        {node.off && <Off />}
      </div>
      <Marks id={id} />
      <Way node={id} />
      {canFail(node) && <Way node={id} branch={errorHandle} className="on-error" />}
    </div>
  );
}

function Item({ id, node, selected }: Content): React.ReactNode {
  const words = useSpecText();
  const { status } = useStatus(node);
  useHandles(id, handlesOf(node).sources);
  return (
    <div className="item" data-status={status} data-selected={selected || undefined}>
      <Handle type="target" position={Position.Left} isConnectable={false} className="ghost" />
      <Icon name={iconOf(node.spec)} />{words(node.spec?.label ?? node.name)}
      <Way node={id} />
      {canFail(node) && <Way node={id} branch={errorHandle} className="on-error" />}
    </div>
  );
}

function Note({ id, node, selected }: Content): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const [writing, setWriting] = useState(false);
  const text = node.text ?? "";
  return (
    <div className="note" data-selected={selected || undefined} onDoubleClick={() => setWriting(true)}>
      <NodeResizer isVisible={selected} minWidth={140} minHeight={80} />
      {writing ? (
        <textarea
          className="nodrag nowheel" aria-label={t("edit.note_text")} autoFocus value={text} placeholder={t("edit.note_hint")}
          onChange={(event) => session.editing.write(id, event.target.value)} onBlur={() => setWriting(false)}
          onKeyDown={(event) => { if (event.key === "Escape") setWriting(false); event.stopPropagation(); }}
        />
      ) : (
        <>
          <b>{shown(node.name)}</b>
          {text === "" ? <p className="quiet">{t("edit.note_empty")}</p> : <Markdown text={text} />}
        </>
      )}
    </div>
  );
}

function Tool({ node, selected }: Content): React.ReactNode {
  const t = useText();
  const words = useSpecText();
  const status = useStatus(node);
  return (
    <div className="box tool" data-status={status.status} data-hue="tool" data-selected={selected || undefined}>
      <Handle type="target" id="top" position={Position.Top} isConnectable={false} />
      <div className="box-head">
        <span className="glyph"><Icon name={iconOfNode(node)} /></span>
        <span className="box-name"><b>{node.role === "agent" ? node.name : t("canvas.tools")}</b><small>{node.role === "agent" ? words(titled(node.spec, node.kind)) : t(node.tools.length === 1 ? "canvas.one" : "canvas.count", node.tools.length)}</small></span>
      </div>
      <Status of={status} />
      <Tools names={node.tools} servers={node.servers} />
      <Handle type="source" id="tool" className="under" position={Position.Bottom} isConnectable={false} />
    </div>
  );
}

/**
 * nodeTypes is a constant, or React Flow would mount every box again. The name `group` is taken by
 * React Flow itself.
 */
export const nodeTypes = {
  node: box(Step), container: box(Group), item: box(Item), note: box(Note), tool: box(Tool), agent: box(Tool),
};
