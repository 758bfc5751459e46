// A wish in words, and the changes of the canvas that a model proposes for it. They are shown as a
// difference and added as one step of undo.

import { useEffect, useMemo, useRef, useState } from "react";
import { compare, type Comparison } from "../canvas/compare.ts";
import { diff } from "../canvas/diff.ts";
import type { Specs } from "../canvas/drawing.ts";
import type { Dsl } from "../canvas/dsl.ts";
import { moveNodes, startingParams } from "../canvas/edit/nodes.ts";
import { PatchError, same } from "../canvas/patch.ts";
import { drafted, limits, type Drafted } from "../run/drafting.ts";
import type { Document } from "../run/session.ts";
import { texts } from "../words/draft.ts";
import { filler } from "../words/words.ts";
import { useApp, useLook, useSelect, useStore } from "./context.tsx";
import { AddModel, useModelName } from "./no-model.tsx";
import { Difference } from "./publish/history.tsx";
import { reasonOf } from "./reason.tsx";

const translators = { en: filler(texts.en), zh: filler(texts.zh) };

interface Made extends Drafted {
  of: Document;
}

type Text = (key: keyof typeof texts.en, ...values: (string | number)[]) => string;

// useDrafting requests drafts of the open canvas from the page's model and applies one.
function useDrafting(t: Text): {
  made: Made | undefined;
  fault: string | undefined;
  progress: [attempt: number, characters: number] | undefined;
  start(wish: string): Promise<void>;
  cancel(): void;
  discard(): void;
  add(): Promise<{ first: string | undefined } | undefined>;
} {
  const { session } = useApp();
  const [made, setMade] = useState<Made>();
  const [fault, setFault] = useState<string>();
  const [progress, setProgress] = useState<[attempt: number, characters: number]>();
  const stop = useRef<AbortController>(undefined);
  const adding = useRef(false);
  const start = async (wish: string): Promise<void> => {
    const document = session.document.get();
    const choice = session.player.provider.get();
    const llm = session.player.providers.model(choice);
    if (!document || !llm || wish === "") return;
    stop.current?.abort();
    const cancel = new AbortController();
    stop.current = cancel;
    setMade(undefined);
    setFault(undefined);
    setProgress([1, 0]);
    try {
      const result = await drafted(wish, {
        dsl: document.dsl, model: document.model, specs: session.specs.get(), llm, name: choice.model,
        signal: cancel.signal,
        validate: (text) => session.validate(text),
        onProgress: (...now) => {
          if (!cancel.signal.aborted) setProgress(now);
        },
      });
      if (!cancel.signal.aborted) setMade({ ...result, of: document });
    } catch (err) {
      if (!cancel.signal.aborted) setFault(reasonOf(err));
    }
    if (!cancel.signal.aborted) setProgress(undefined); // a later draft may be under way
  };
  useEffect(() => () => stop.current?.abort(), []);
  const add = async (): Promise<{ first: string | undefined } | undefined> => {
    if (!made?.dsl || adding.current) return undefined;
    const { of, dsl } = made;
    adding.current = true;
    try {
      const step = Object.keys(of.dsl.components).length > 1 ? undefined : `draft ${of.number}`;
      session.act((draft) => draft.take(diff(of.dsl, dsl)), step);
      const first = Object.keys(dsl.components).find((id) => !Object.hasOwn(of.dsl.components, id));
      if (step !== undefined) {
        const places = await session.layout();
        session.act((draft, { model: now }) => moveNodes(draft, now, places), step);
      }
      return { first };
    } catch (err) {
      if (!(err instanceof PatchError)) throw err;
      setFault(t("moved"));
      return undefined;
    } finally {
      adding.current = false;
    }
  };
  const cancel = (): void => {
    stop.current?.abort();
    setProgress(undefined);
  };
  return { made, fault, progress, start, cancel, discard: () => setMade(undefined), add };
}

/** DraftDialog drafts changes of the open canvas. */
export default function DraftDialog({ onDone }: { onDone(): void }): React.ReactNode {
  const t = translators[useLook(({ language }) => language)];
  const { session, look } = useApp();
  const [begun] = useState(look.get().wish);
  const select = useSelect();
  const model = useModelName();
  const kind = useStore(session.player.provider, (choice) => choice.kind);
  const [wish, setWish] = useState(begun ?? "");
  const work = useDrafting(t);
  const { made, fault, progress } = work;
  const start = (): void => void work.start(wish.trim());
  useEffect(() => {
    look.update({ wish: undefined });
    if (begun !== undefined) start();
  }, []);
  const add = async (): Promise<void> => {
    const added = await work.add();
    if (!added) return;
    onDone();
    select(added.first, { reveal: true });
  };
  const busy = progress !== undefined;
  return (
    <form
      className="draft"
      onSubmit={(event) => {
        event.preventDefault();
        start();
      }}
    >
      <h2 id="dialog-title">{t("title")}</h2>
      <label className="field">
        {t("wish")}
        <textarea
          rows={3} value={wish} maxLength={limits.wish} placeholder={t("example")} autoFocus
          onChange={(event) => setWish(event.target.value)}
        />
      </label>
      {kind === "offline" ? (
        <p className="no-model">{t(begun === undefined ? "no_model" : "from_template")} <AddModel /></p>
      ) : (
        <p className="quiet small">{t("bounds", model, limits.attempts)}</p>
      )}
      {progress && (
        <p role="status"><span className="spinner" /> {t("busy", progress[0], limits.attempts, progress[1])}</p>
      )}
      {fault !== undefined && <p className="fault" role="alert">{fault}</p>}
      {made && <Proposal made={made} t={t} />}
      <div className="dialog-acts">
        {busy ? (
          <button type="button" onClick={work.cancel}>{t("cancel")}</button>
        ) : (
          <button type="button" onClick={made ? work.discard : onDone}>{t(made ? "discard" : "close")}</button>
        )}
        {!busy && kind !== "offline" && (
          <button type="submit" className={made?.dsl ? undefined : "primary"} disabled={wish.trim() === ""}>
            {t(made ? "again" : "draft")}
          </button>
        )}
        {made?.dsl && (
          <button type="button" className="primary" onClick={() => void add()}>
            {t(made.problems.length > 0 ? "add_anyway" : "add")}
          </button>
        )}
      </div>
    </form>
  );
}

// compared also has the settings of new steps, which a person must see before they run: scripts,
// addresses, instructions.
function compared(before: Dsl, after: Dsl, specs: Specs): Comparison {
  const found = compare(before, after);
  const nodes = found.nodes.map((node) => {
    if (node.change !== "added") return node;
    const usual = startingParams(specs.get(node.kind));
    const params = Object.entries(after.components[node.id]?.obj.params ?? {});
    const settings = params.flatMap(([name, value]) => (same(usual[name], value) ? [] : [{ name, after: value }]));
    return { ...node, settings };
  });
  return { ...found, nodes };
}

function Proposal({ made, t }: { made: Made; t: Text }): React.ReactNode {
  const { dsl, of, problems, attempts, tokens } = made;
  const specs = useStore(useApp().session.specs, (all) => all);
  const comparison = useMemo(() => dsl && compared(of.dsl, dsl, specs), [dsl, of, specs]);
  return (
    <section className="proposal" aria-label={t("draft")}>
      {problems.length > 0 && (
        <div className="fault" role="alert">
          {t(dsl ? "problems" : "unusable")}
          <ul>{problems.map((problem) => <li key={problem}>{problem}</li>)}</ul>
        </div>
      )}
      {comparison && <h3>{t("changes")}</h3>}
      {comparison && <Difference comparison={comparison} />}
      {comparison && <p className="quiet small">{t("ready")}</p>}
      <p className="quiet small">{t("used", attempts, tokens)}</p>
    </section>
  );
}
