// The report before an import: the steps that run here and on the host, and those that do not.

import { useEffect, useMemo, useRef, useState } from "react";
import { messageOf } from "@easel/engine";
import type { Choices, ResourceKind } from "../../canvas/edit/resources.ts";
import { build } from "../../canvas/model.ts";
import { overlapping } from "../../canvas/overlap.ts";
import { check, type Need } from "../../run/release.ts";
import { report, runnable, type Finding, type Report, type Unreadable } from "../../run/report.ts";
import { shown } from "../../words/shown.ts";
import { pick } from "../../words/words.ts";
import { useApp, useLook, useSpecText, useStore, useText } from "../context.tsx";
import { Icon, type IconName } from "../icons.tsx";
import { NeedList, useNeeds, type Missing, type Needs } from "../needs.tsx";
import { Glyphs, kindsOf } from "./starters.tsx";
import { brief, titled } from "../text.ts";
import { useHomeText } from "./text.ts";
import { Reason, unreadable as unreadableText } from "../reason.tsx";

const longestMessage = 300;
const largestFile = 40_000_000; // bytes

/** ImportDialog shows what is known of a file and offers to open it. */
export default function ImportDialog({
  file,
  onImport,
  onOther,
  onTemplates,
  onClose,
}: {
  file: File;
  /** Opens the file, with choices for what is missing here, and laid out if `tidy` is set. */
  onImport(text: string, choices: Choices, tidy: boolean): void;
  onOther(): void;
  onTemplates(): void;
  onClose(): void;
}): React.ReactNode {
  const h = useHomeText();
  const t = useText();
  const { session } = useApp();
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [found, setFound] = useState<Report | Unreadable>();
  const [fault, setFault] = useState<string>();
  const [choices, setChoices] = useState<Choices>({});
  const [tidy, setTidy] = useState(true);
  const specs = useStore(session.specs, (all) => all);
  const name = file.name.replace(/\.(json|ya?ml)$/i, "");
  useEffect(() => {
    dialog.current?.showModal();
    const read = async (): Promise<void> => {
      if (file.size > largestFile) return setFound({ code: "too_large", detail: String(Math.round(file.size / 1e6)) });
      const content = await session.complete(await file.text());
      setText(content);
      setFound(await report(content, name, (document) => session.validate(document)));
    };
    read().catch((err: unknown) => setFault(messageOf(err)));
  }, [file, name, session]);
  const choose: Choose = (...choice) => setChoices((before) => chosen(before, ...choice));
  const unreadable = found && "code" in found ? found : undefined;
  const readable = found && !("code" in found) ? found : undefined;
  const overlaps = useMemo(() => (readable ? overlapping(build(readable.dsl, specs)) : 0), [readable, specs]);
  const foreign = unreadable?.code === "dify" || unreadable?.code === "n8n";
  return (
    <dialog ref={dialog} className="import" aria-labelledby="import-title" onClose={onClose}>
      <h2 id="import-title">{h(unreadable ? "import_failed" : "import_title", file.name)}</h2>
      {fault !== undefined && <p className="fault" role="alert">{fault}</p>}
      {!found && fault === undefined && (
        <p className="quiet" role="status">
          <span className="spinner" /> {h("import_reading")}
        </p>
      )}
      {unreadable && (
        <div role="alert">
          <p>{unreadableText(t, unreadable)}</p>
          {foreign && <p className="quiet">{h("import_next_foreign")}</p>}
        </div>
      )}
      {readable && <Preview report={readable} choices={choices} onChoose={choose} />}
      {overlaps > 0 && <Tidy overlaps={overlaps} tidy={tidy} onChange={setTidy} />}
      <div className="dialog-acts">
        <button type="button" onClick={() => dialog.current?.close()}>{h("import_cancel")}</button>
        {unreadable && <button type="button" onClick={onOther}>{h("import_other")}</button>}
        {foreign && (
          <button type="button" className="primary" onClick={onTemplates}>
            {h("import_templates")}
          </button>
        )}
        {readable && (
          <button
            type="button" className="primary" autoFocus
            onClick={() => onImport(text, choices, overlaps > 0 && tidy)}
          >
            {h("import_open")}
          </button>
        )}
      </div>
    </dialog>
  );
}

function Tidy({ overlaps, tidy, onChange }: {
  overlaps: number; tidy: boolean; onChange(tidy: boolean): void;
}): React.ReactNode {
  const h = useHomeText();
  return (
    <label className="tidy">
      <input type="checkbox" checked={tidy} onChange={(event) => onChange(event.target.checked)} />{" "}
      {h("import_tidy", overlaps)}
    </label>
  );
}

type Choose = React.ComponentProps<typeof NeedList>["onChoose"];

// chosen returns choices with another one; undefined takes one back.
function chosen(before: Choices, ...[kind, of, to]: Parameters<Choose>): Choices {
  const map = new Map((before as Partial<Record<Missing["kind"], ReadonlyMap<string, string>>>)[kind]);
  if (to === undefined) map.delete(of);
  else map.set(of, to);
  return { ...before, [kind]: map };
}

function Preview({ report: found, choices, onChoose }: {
  report: Report;
  choices: Choices;
  onChoose: Choose;
}): React.ReactNode {
  const h = useHomeText();
  const { session } = useApp();
  const say = useSpecText();
  const language = useLook((look) => look.language);
  const specs = useStore(session.specs, (all) => all);
  const title = pick(found.title, language);
  const count = runnable(found);
  const needs = useNeeds(found.dsl);
  const broken = found.broken.filter(({ node, code, messages }) => messages.length > 1 || !isLost(needs, code, node));
  const kinds = found.kinds.map(([kind, many]) => {
    const label = brief(say(titled(specs.get(kind), kind)));
    return many > 1 ? `${label} ×${many}` : label;
  });
  const name = (node: string): string => nameOf(found, node);
  return (
    <div className="preview">
      <Glyphs kinds={kindsOf(found.kinds.map(([kind]) => kind), specs)} />
      {title && <b>{shown(title)}</b>}
      <p className="quiet">{h("import_steps", found.steps, kinds.join(", "))}</p>
      <p className="verdict good">
        <Icon name="check" />
        {count === found.steps ? h("import_all", count) : h("import_runs", count, found.steps)}
      </p>
      <Group title={h("import_broken")} tone="bad" icon="cross" list={broken} name={name} />
      <Group title={h("import_mock")} tone="wait" icon="globe" list={found.mock} name={name} />
      <Group title={h("import_notes")} tone="plain" icon="help" list={found.notes} name={name} />
      <NeedList needs={needs} chosen={choices} title={title} onChoose={onChoose} />
      <OnHost report={found} needs={needs} />
    </div>
  );
}

function Group({
  title,
  tone,
  icon,
  list,
  name,
}: {
  title: string;
  tone: string;
  icon: IconName;
  list: Finding[];
  name(node: string): string;
}): React.ReactNode {
  const h = useHomeText();
  if (list.length === 0) return null;
  return (
    <details className="findings" data-tone={tone} open={tone === "bad"}>
      <summary>
        <Icon name={icon} /> {title} <span className="count">{list.length}</span>
      </summary>
      <ul>
        {list.map(({ node, code, messages }) => (
          <li key={node ?? ""}>
            <b>{node === undefined ? h("import_document") : name(node)}</b>{" "}
            <Reason code={code} message={messages.join(" ")} most={longestMessage} />
          </li>
        ))}
      </ul>
    </details>
  );
}

// Codes of the host for what has a choice.
const settled: Readonly<Record<string, ResourceKind>> = {
  unknown_model: "model", unknown_dataset: "dataset", unknown_server: "server",
};

// isLost reports whether a finding is that the component of a step is missing.
function isLost({ missing }: Needs, code: string, node = ""): boolean {
  if (code !== "unknown_component" && code !== "unsupported") return false;
  return missing.some(({ kind, nodes }) => kind === "component" && nodes.includes(node));
}

// OnHost lists the missing requirements of the host, for people who are signed in there.
function OnHost({ report: { dsl }, needs: lacking }: { report: Report; needs: Needs }): React.ReactNode {
  const h = useHomeText();
  const { host } = useApp();
  const status = useStore(host.state, (state) => state.status);
  const [needs, setNeeds] = useState<Need[]>();
  const [fault, setFault] = useState<string>();
  useEffect(() => {
    if (status !== "open") return;
    check(host, "/api/v2/validate", dsl).then(
      (found) => setNeeds(found.needs),
      (err: unknown) => setFault(messageOf(err)),
    );
  }, [host, status, dsl]);
  if (status === "none" || status === "unknown") return null;
  if (fault !== undefined) return <p className="fault" role="alert">{fault}</p>;
  if (status !== "open") return <p className="quiet small">{h("import_host_unknown")}</p>;
  // What is missing has its choice above.
  const kinds = new Set(lacking.missing.map(({ kind }) => kind));
  const shown = needs?.filter(({ code = "", kind, node }) =>
    !isLost(lacking, code, node) && !kinds.has(settled[code] ?? (kind as ResourceKind)));
  if (!needs || lacking.busy || !shown || (needs.length > 0 && shown.length === 0)) return null;
  return (
    <section className="findings" aria-label={h("import_host")}>
      <b>{h("import_host")}</b>
      {needs.length === 0 && (
        <p className="verdict good">
          <Icon name="check" />
          {h("import_host_ready")}
        </p>
      )}
      <ul>
        {shown.map((need, i) => (
          <li key={i} data-severity={need.severity}>
            {need.kind === "diagnostic"
              ? <Reason code={need.code} message={need.text} most={longestMessage} />
              : h(`need_${need.kind}`, need.text)}
          </li>
        ))}
      </ul>
    </section>
  );
}

// nameOf returns the name of a step in the drawing, or its id.
function nameOf({ dsl }: Report, id: string): string {
  const { nodes } = (dsl.graph ?? {}) as { nodes?: { id?: unknown; data?: { name?: unknown } }[] };
  const name = Array.isArray(nodes) ? nodes.find((node) => node?.id === id)?.data?.name : undefined;
  return typeof name === "string" && name !== "" ? name : id;
}
