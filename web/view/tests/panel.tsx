// The tests of the open canvas: runs that were saved, played again without a model or a network.

import { useEffect, useMemo, useRef, useState } from "react";
import { CaseError, CaseFault, readCase } from "../../run/cases/case.ts";
import { CaseStore } from "../../run/cases/store.ts";
import { Suite, type Against, type Entry, type Shown } from "../../run/cases/suite.ts";
import type { Session } from "../../run/session.ts";
import type { TestKey, TestText } from "../../words/tests.ts";
import { pick } from "../../words/words.ts";
import { Consent } from "../consent.tsx";
import { useApp, useLook, useStore } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { reasonOf } from "../reason.tsx";
import { save } from "../save.ts";
import { ResultView } from "./result.tsx";
import { useTestText } from "./words.ts";

const suites = new WeakMap<Session, Suite>(); // results outlast the view
const pause = 700; // milliseconds without an edit before cases are played again

/** TestsPanel lists the tests of the open canvas. */
export default function TestsPanel(): React.ReactNode {
  const { session } = useApp();
  const allowed = useStore(session.allowed, (may) => may);
  if (!allowed) return <div className="chat"><Consent /></div>;
  return <Tests />;
}

function useSuite(): Suite {
  const { session, drafts } = useApp();
  const suite = useMemo(() => {
    const known = suites.get(session) ?? new Suite(session, new CaseStore(factory()));
    suites.set(session, known);
    return known;
  }, [session]);
  const number = useStore(session.document, (document) => document?.number);
  const key = useKey(drafts?.key.get, drafts?.key.subscribe) ?? `open:${number}`;
  useEffect(() => void suite.open(key.replace(/~.*$/, "")), [suite, key]);
  return suite;
}

function useKey(
  get: (() => string | undefined) | undefined, subscribe: ((listener: () => void) => () => void) | undefined,
): string | undefined {
  const [key, setKey] = useState(get?.());
  useEffect(() => subscribe?.(() => setKey(get?.())), [get, subscribe]);
  return key;
}

// factory returns the database of the browser, if the page may use it.
function factory(): IDBFactory | undefined {
  try {
    return indexedDB;
  } catch {
    return undefined;
  }
}

/** Acting runs acts of buttons and shows why one failed. */
interface Acting {
  busy: boolean;
  fault: string | undefined;
  act(work: () => Promise<void>): void;
}

function useActing(t: TestText): Acting {
  const [state, setState] = useState<{ busy: boolean; fault?: string }>({ busy: false });
  const act = (work: () => Promise<void>): void => {
    setState({ busy: true });
    work().then(() => setState({ busy: false }), (err: unknown) => setState({ busy: false, fault: saidOf(err, t) }));
  };
  return { ...state, fault: state.fault, act };
}

function saidOf(err: unknown, t: TestText): string {
  if (err instanceof CaseError) return t(`cannot_${err.code}`, err.detail);
  return err instanceof CaseFault ? t(`fault_${err.code}`) : reasonOf(err);
}

function Tests(): React.ReactNode {
  const t = useTestText();
  const { session, look } = useApp();
  const suite = useSuite();
  const shown = useStore(suite.shown, (all) => all);
  const language = useLook((all) => all.language);
  const saving = useLook((all) => all.saving);
  const title = useStore(session.document, (document) => document && pick(document.opened.title, language)) || "canvas";
  const turns = useStore(session.player.play, (play) => play.turns);
  const last = turns.at(-1);
  const acting = useActing(t);
  const picker = useRef<HTMLInputElement>(null);
  const { entries } = shown;
  const ready = entries !== undefined;
  useEffect(() => {
    if (saving === undefined || !ready) return;
    look.update({ saving: undefined });
    acting.act(() => suite.save(saving, title));
  }, [saving, ready]);
  useFollowing(suite, shown);
  const open = (files: readonly File[]): void =>
    acting.act(async () => {
      const texts: string[] = [];
      for (const file of files) {
        const text = await file.text();
        try {
          readCase(text);
        } catch (err) {
          throw new Error(t("file_fault", file.name, saidOf(err, t)), { cause: err });
        }
        texts.push(text);
      }
      await suite.add(texts);
    });
  if (!entries) return null;
  const saveable = last && ["succeeded", "failed", "paused"].includes(last.state.status);
  return (
    <div className="tests">
      <input
        ref={picker} type="file" multiple hidden accept=".json,application/json"
        onChange={(event) => {
          const files = [...(event.target.files ?? [])];
          event.target.value = "";
          if (files.length > 0) open(files);
        }}
      />
      {entries.length > 0 && <Head suite={suite} shown={shown} />}
      {shown.passing && <p className="fault" role="alert">{t("not_kept")}</p>}
      {acting.fault !== undefined && <p className="fault" role="alert">{acting.fault}</p>}
      {shown.undo && (
        <p className="undo" role="status">
          {t(shown.undo.kind, shown.undo.name)}
          <button type="button" onClick={() => acting.act(() => suite.undo())}>{t("undo")}</button>
          <button type="button" className="icon-button" aria-label={t("close")} onClick={() => suite.dismiss()}>
            <Icon name="cross" />
          </button>
        </p>
      )}
      {entries.length === 0 ? (
        <div className="empty">
          <b>{t("none")}</b>
          <p className="quiet">{t("none_hint")}</p>
          {!last && <p className="quiet">{t("no_run")}</p>}
        </div>
      ) : (
        <ul className="cases" aria-label={t("list")}>
          {entries.map((entry) => (
            <Row key={entry.id} suite={suite} entry={entry} shown={shown} onAct={acting.act} />
          ))}
        </ul>
      )}
      <p className="add">
        {saveable && (
          <button
            type="button" disabled={acting.busy} className={entries.length === 0 ? "primary" : ""}
            onClick={() => acting.act(() => suite.save(turns.length - 1, title))}
          >
            <Icon name="plus" />
            {t("save_last")}
          </button>
        )}
        <button type="button" disabled={acting.busy} onClick={() => picker.current?.click()}>
          <Icon name="open" />
          {t("open")}
        </button>
      </p>
    </div>
  );
}

// useFollowing plays out-of-date results again after edits, if the person wants it.
function useFollowing(suite: Suite, { follows, running, against }: Shown): void {
  const { session } = useApp();
  const dsl = useStore(session.document, (document) => document?.dsl);
  useEffect(() => {
    if (!follows || running || against !== "current") return;
    const timer = setTimeout(() => {
      const stale = suite.shown.get().entries?.filter(({ results: { current } }) => current && suite.isStale(current));
      if (stale?.length) void suite.run(stale.map(({ id }) => id));
    }, pause);
    return () => clearTimeout(timer);
  }, [suite, follows, running, against, dsl]);
}

function Head({ suite, shown }: { suite: Suite; shown: Shown }): React.ReactNode {
  const t = useTestText();
  useStore(useApp().session.document, (document) => document?.dsl);
  const { entries = [], against, follows, running } = shown;
  const results = entries.flatMap(({ results: all }) => all[against] ?? []);
  const count = (verdict: string): number => results.filter((result) => result.verdict === verdict).length;
  const stale = results.filter((result) => suite.isStale(result)).length;
  return (
    <header>
      <div className="line">
        <button
          type="button"
          className="primary"
          onClick={() => {
            if (running) suite.stop();
            else void suite.run();
          }}
        >
          <Icon name={running ? "stop" : "play"} />
          {t(running ? "stop" : stale > 0 ? "run_again" : "run_all")}
        </button>
        <label className="field">
          {t("against")}
          <select
            value={against}
            disabled={running}
            onChange={(event) => suite.shown.update({ against: event.target.value as Against })}
          >
            <option value="current">{t("current")}</option>
            <option value="recorded">{t("recorded")}</option>
          </select>
        </label>
      </div>
      {against === "current" && (
        <label className="check">
          <input
            type="checkbox"
            checked={follows}
            onChange={(event) => suite.shown.update({ follows: event.target.checked })}
          />
          {t("follow")}
        </label>
      )}
      <p role="status" className="counts">
        {results.length > 0 && t("counts", count("passed"), count("failed"), count("not_played"))}
        {stale > 0 && <span className="stale">{t("stale_counts", stale)}</span>}
      </p>
    </header>
  );
}

function Row({
  suite, entry, shown, onAct,
}: {
  suite: Suite; entry: Entry; shown: Shown; onAct(work: () => Promise<void>): void;
}): React.ReactNode {
  const t = useTestText();
  const [naming, setNaming] = useState<string>();
  const result = entry.results[shown.against];
  const name = entry.read?.name ?? "…";
  const rename = (): void => {
    if (naming !== undefined && naming.trim() !== name) onAct(() => suite.rename(entry.id, naming));
    setNaming(undefined);
  };
  const differences = result?.differences.length ?? 0;
  return (
    <li data-verdict={result?.verdict} data-stale={(result && suite.isStale(result)) || undefined}>
      <div className="case">
        {naming === undefined ? <b>{name}</b> : (
          <form onSubmit={(event) => { event.preventDefault(); rename(); }}>
            <input
              type="text" required maxLength={200} autoFocus aria-label={t("rename_of")} value={naming}
              onChange={(event) => setNaming(event.target.value)} onBlur={rename}
            />
          </form>
        )}
        <Badge entry={entry} suite={suite} shown={shown} />
      </div>
      {entry.fault !== undefined && <p className="fault">{t("broken", entry.fault)}</p>}
      {result && result.verdict !== "passed" && (
        <details open={result.verdict === "not_played" || undefined}>
          <summary>
            {result.verdict === "not_played" ? t("not_played")
              : differences === 1 ? t("differs_one") : t("differs", differences)}
          </summary>
          <ResultView key={shown.against} result={result} onAccept={() => onAct(() => suite.accept(entry.id))} />
        </details>
      )}
      <div className="acts" role="group" aria-label={t("more", name)}>
        <button
          type="button" disabled={shown.running || !entry.read} aria-label={t("run_of", name)}
          onClick={() => void suite.run([entry.id])}
        >
          <Icon name="play" />
          {t("run")}
        </button>
        <button type="button" disabled={!entry.read} onClick={() => setNaming(name)}>{t("rename")}</button>
        <button type="button" onClick={() => save(entry.text, `${fileName(name)}.json`)}>{t("export")}</button>
        <button type="button" onClick={() => onAct(() => suite.remove(entry.id))}>{t("remove")}</button>
      </div>
    </li>
  );
}

function fileName(name: string): string {
  return name.replace(/[^\p{L}\p{N}]+/gu, "_").replace(/^_|_$/g, "").toLowerCase() || "case";
}

function Badge({ entry, suite, shown }: { entry: Entry; suite: Suite; shown: Shown }): React.ReactNode {
  const t = useTestText();
  const result = entry.results[shown.against];
  if (entry.playing) return <span className="spinner" role="img" aria-label={t("running")} />;
  const verdict: TestKey = result?.verdict ?? "not_run";
  return (
    <span className="verdict">
      <span className="badge" data-verdict={verdict}>{t(verdict)}</span>
      {result && suite.isStale(result) && <small className="stale">{t("stale")}</small>}
    </span>
  );
}
