// Runs of the host by canvas, status and source; one can be opened on its canvas or saved as a test
// case, two can be compared.

import { useEffect, useState } from "react";
import type { Host } from "../../run/host.ts";
import { Runs, type HostRun, type HostRuns, type Kept } from "../../run/remote.ts";
import { shown } from "../../words/shown.ts";
import { Frame } from "../area/frame.tsx";
import { Empty, Fault, useAttempt, useLoaded, useWords, type Attempt } from "../area/parts.tsx";
import { moneyOf, useAreaText, useNamed } from "../area/text.ts";
import { areaLink } from "../areas.tsx";
import { useApp, useLook, useStore, useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { brief, seconds } from "../text.ts";
import { Compare } from "./compare.tsx";
import { downloadCase, keepCase } from "./case.ts";

const size = 30;
const statuses: HostRun["status"][] = ["succeeded", "failed", "paused", "canceled", "running", "queued"];
const sources = ["v2", "editor", "api", "openai", "webhook", "schedule"];

/** RunsArea lists runs. */
export default function RunsArea({
  path: [canvas],
  onCanvas,
}: {
  path: string[];
  onCanvas(id: string): Promise<void>;
}): React.ReactNode {
  const t = useText();
  return (
    <Frame crumbs={[{ label: t("area.runs") }]}>
      <List key={canvas ?? ""} canvas={canvas ?? ""} onCanvas={onCanvas} />
    </Frame>
  );
}

/** titlesOf returns the titles of the canvases of a host by id. */
async function titlesOf(host: Host): Promise<Map<string, string>> {
  const answer = await host.ask("GET", "/api/v2/canvases?page_size=1000");
  const { items } = (await answer.json()) as { items: { id: string; title: string }[] };
  return new Map(items.map(({ id, title }) => [id, title]));
}

/** timesOf returns the times at which days of the person begin and end. */
function timesOf({ from, to }: { from: string; to: string }): { from: string; to: string } {
  const at = (day: string, later: number): string => {
    const date = new Date(`${day}T00:00`);
    date.setDate(date.getDate() + later);
    return Number.isNaN(date.getTime()) ? "" : date.toISOString();
  };
  return { from: at(from, 0), to: at(to, 1) };
}

function List({ canvas, onCanvas }: { canvas: string; onCanvas(id: string): Promise<void> }): React.ReactNode {
  const t = useText();
  const a = useAreaText();
  const named = useNamed();
  const { host, session, look } = useApp();
  const reads = useStore(host.state, ({ scopes }) => scopes.length === 0 || scopes.includes("read_traces"));
  const [api] = useState(() => new Runs(host));
  const [status, setStatus] = useState("");
  const [source, setSource] = useState("");
  const user = useWords();
  const [days, setDays] = useState({ from: "", to: "" });
  const [pages, setPages] = useState<string[]>([]); // cursors of the pages before
  const [chosen, setChosen] = useState<HostRun[]>([]);
  const [comparing, setComparing] = useState(false);
  const titles = useLoaded("titles", () => titlesOf(host));
  const after = pages.at(-1);
  const query = { canvas, status, source, user: user.words, ...timesOf(days) };
  const list = useLoaded(JSON.stringify([query, after]), () =>
    api.list({ ...query, page_size: size, ...(after ? { after } : {}) }),
  );
  const filtered = Object.values(query).some(Boolean);
  const attempt = useAttempt();
  const rows = list.value?.items ?? [];
  const active = rows.some((run) => run.status === "running" || run.status === "queued" || run.kept === "pending");
  useEffect(() => {
    if (!active) return;
    const timer = setInterval(list.reload, 3_000);
    return () => clearInterval(timer);
  }, [active, list.reload]);
  const open = (run: HostRun): void =>
    void attempt.run(async () => {
      await onCanvas(run.canvas);
      if (session.origin.get()?.id !== run.canvas) throw new Error(a("run.no_canvas"));
      session.player.where.set("host");
      session.player.show(run.id);
      look.update({ panel: true, tab: "timeline" });
    });
  const choose = (run: HostRun, on: boolean): void =>
    setChosen((before) => (on ? [...before, run].slice(-2) : before.filter(({ id }) => id !== run.id)));
  const name = (id: string): string => titles.value?.get(id) ?? id;
  const filter =
    (set: (text: string) => void) =>
    (event: React.ChangeEvent<HTMLSelectElement>): void => {
      set(event.target.value);
      setPages([]);
    };
  if (comparing && chosen.length === 2) {
    return (
      <Compare
        api={api}
        runs={chosen as [HostRun, HostRun]}
        names={chosen.map((run) => name(run.canvas))}
        currency={list.value?.currency}
        onClose={() => setComparing(false)}
      />
    );
  }
  return (
    <>
      <div className="tools">
        <select
          aria-label={a("run.canvas")}
          value={canvas}
          onChange={(event) => {
            location.hash = event.target.value ? areaLink("runs", event.target.value) : areaLink("runs");
          }}
        >
          <option value="">{a("run.any_canvas")}</option>
          {[...(titles.value ?? [])].map(([id, title]) => (
            <option key={id} value={id}>
              {shown(title)}
            </option>
          ))}
        </select>
        <select aria-label={a("run.status")} value={status} onChange={filter(setStatus)}>
          <option value="">{a("document.any_state")}</option>
          {statuses.map((each) => (
            <option key={each} value={each}>
              {t(`status.${each}`)}
            </option>
          ))}
        </select>
        <select aria-label={a("run.source")} value={source} onChange={filter(setSource)}>
          <option value="">{a("run.any_source")}</option>
          {sources.map((each) => (
            <option key={each} value={each}>
              {named("source", each)}
            </option>
          ))}
        </select>
        <Among user={user} days={days} onDays={setDays} onChange={() => setPages([])} />
        <span className="grow" />
        <button type="button" onClick={list.reload}>
          <Icon name="loop" />
          {a("run.reload")}
        </button>
        <button type="button" className="primary" disabled={chosen.length !== 2} onClick={() => setComparing(true)}>
          {a("run.compare", chosen.length)}
        </button>
      </div>
      <Fault text={list.fault ?? titles.fault} onAgain={list.reload} />
      <Fault text={attempt.fault} />
      <NotKept keeps={list.value?.keeps} reads={reads} />
      {list.value?.total === 0 &&
        (filtered ? (
          <p className="quiet" role="status">
            {t("host.empty")}
          </p>
        ) : (
          <Empty title={a("run.none")} text={a("run.none_hint")} />
        ))}
      {rows.length > 0 && (
        <ul className="entries runs" aria-label={t("area.runs")}>
          {rows.map((run) => (
            <Row
              key={run.id}
              api={api}
              run={run}
              title={name(run.canvas)}
              currency={list.value?.currency}
              chosen={chosen.some(({ id }) => id === run.id)}
              attempt={attempt}
              reads={reads}
              onChoose={(on) => choose(run, on)}
              onOpen={() => open(run)}
            />
          ))}
        </ul>
      )}
      <Pages pages={pages} list={list.value} onPages={setPages} />
    </>
  );
}

/** Among are the filters by user and day. */
function Among({
  user,
  days,
  onDays,
  onChange,
}: {
  user: ReturnType<typeof useWords>;
  days: { from: string; to: string };
  onDays(days: { from: string; to: string }): void;
  onChange(): void;
}): React.ReactNode {
  const a = useAreaText();
  return (
    <>
      <input
        type="search"
        aria-label={a("run.user")}
        placeholder={a("run.user")}
        value={user.typed}
        onChange={(event) => {
          user.type(event.target.value);
          onChange();
        }}
      />
      {(["from", "to"] as const).map((end) => (
        <label key={end} className="day">
          {a(`run.${end}`)}
          <input
            type="date"
            value={days[end]}
            onChange={(event) => {
              onDays({ ...days, [end]: event.target.value });
              onChange();
            }}
          />
        </label>
      ))}
    </>
  );
}

/** NotKept shows why runs that end now are not kept, or cannot be read whole. */
function NotKept({ keeps, reads }: { keeps: Kept | undefined; reads: boolean }): React.ReactNode {
  const a = useAreaText();
  return (
    <>
      {(keeps === "disk_full" || keeps === "off") && (
        <p className="banner note-bar" role="status">
          {a(`run.keeps_${keeps}`)}
        </p>
      )}
      {!reads && (
        <p className="banner note-bar" role="status">
          {a("run.no_traces")}
        </p>
      )}
    </>
  );
}

/** Pages leads through the pages of the list. */
function Pages({
  pages,
  list,
  onPages,
}: {
  pages: string[];
  list: HostRuns | undefined;
  onPages(pages: string[]): void;
}): React.ReactNode {
  const a = useAreaText();
  if (pages.length === 0 && !list?.next) return null;
  const before = pages.length * size;
  const total = list?.total?.toLocaleString() ?? `${(1000).toLocaleString()}+`;
  return (
    <nav className="pager" aria-label={a("pager.label")}>
      <button type="button" disabled={pages.length === 0} onClick={() => onPages(pages.slice(0, -1))}>
        <Icon name="back" />
        {a("pager.before")}
      </button>
      <span aria-live="polite">{a("pager.at", before + 1, before + (list?.items.length ?? 0), total)}</span>
      <button type="button" disabled={!list?.next} onClick={() => onPages([...pages, list?.next ?? ""])}>
        {a("pager.next")}
        <Icon name="forward" />
      </button>
    </nav>
  );
}

/** Said is the beginning of question and answer. */
function Said({ run }: { run: HostRun }): React.ReactNode {
  const a = useAreaText();
  return (
    <>
      {run.question && (
        <p className="line" title={run.question}>
          <span className="sr">{a("run.asked")}</span>
          {shown(run.question)}
        </p>
      )}
      {run.answer && (
        <p className="line quiet" title={run.answer}>
          <span className="sr">{a("run.answered")}</span>
          {shown(run.answer)}
        </p>
      )}
    </>
  );
}

/** Use is the state of a run, with its time, tokens and costs. */
function Use({ run, currency }: { run: HostRun; currency: string | undefined }): React.ReactNode {
  const t = useText();
  const language = useLook((look) => look.language);
  const facts = [
    run.ended ? seconds((Date.parse(run.ended) - Date.parse(run.created)) / 1000) : "",
    run.tokens > 0 ? t("node.tokens", run.tokens.toLocaleString(language)) : "",
    run.cost > 0 ? moneyOf(language, run.cost, currency) : "",
  ];
  return (
    <div className="how">
      <span className="badge state">{t(`status.${run.status}`)}</span>
      <small>{facts.filter(Boolean).join(" · ")}</small>
    </div>
  );
}

function Row({
  api,
  run,
  title,
  currency,
  chosen,
  attempt,
  reads,
  onChoose,
  onOpen,
}: {
  api: Runs;
  run: HostRun;
  title: string;
  currency: string | undefined;
  chosen: boolean;
  attempt: Attempt;
  /** Whether the person may read what steps got and returned. */
  reads: boolean;
  onChoose(on: boolean): void;
  onOpen(): void;
}): React.ReactNode {
  const a = useAreaText();
  const named = useNamed();
  const app = useApp();
  const language = useLook((look) => look.language);
  const specs = useStore(app.session.specs, (all) => all);
  const [kept, setKept] = useState(false);
  const keep = async (): Promise<void> => {
    if (await attempt.run(() => keepCase(app, api, run, title))) setKept(true);
  };
  const when = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium" }).format(
    new Date(run.created),
  );
  const ended = run.status !== "running" && run.status !== "queued";
  const lost = run.kept && run.kept !== "kept" && run.kept !== "pending" ? run.kept : undefined;
  return (
    <li data-status={run.status}>
      <input
        type="checkbox"
        aria-label={a("run.choose", title, when)}
        checked={chosen}
        disabled={Boolean(lost)}
        onChange={(event) => onChoose(event.target.checked)}
      />
      <div className="what">
        <button type="button" className="link" disabled={Boolean(lost)} onClick={onOpen}>
          {shown(title)}
        </button>
        <small>
          {when} · {named("source", run.source)}
          {run.session ? ` · ${a("run.session")}` : ""}
        </small>
        <Said run={run} />
        {run.error && <p className="reason">{brief(run.error, 300)}</p>}
        {lost && <p className="reason">{a(`run.lost_${lost}`)}</p>}
      </div>
      <Use run={run} currency={currency} />
      <div className="acts">
        <button type="button" disabled={specs.size === 0 || Boolean(lost)} onClick={onOpen}>
          {a("run.open")}
        </button>
        <button
          type="button"
          disabled={kept || !ended || !reads || Boolean(lost)}
          onClick={() => void keep()}
        >
          {a(kept ? "run.kept" : "run.keep")}
        </button>
        <button
          type="button"
          disabled={!ended || !reads || Boolean(lost)}
          onClick={() => void attempt.run(() => downloadCase(api, run, title))}
        >
          {a("run.case")}
        </button>
      </div>
    </li>
  );
}
