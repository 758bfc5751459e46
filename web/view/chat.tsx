// The conversation: messages of the person and the canvas, and the forms between them.

import { lazy, Suspense, useCallback, useEffect, useId, useMemo, useRef, useState } from "react";
import type { Chunk, FormField, Reference } from "@easel/engine";
import type { Answer } from "@easel/engine/state";
import { isObject, own } from "../canvas/dsl.ts";
import type { Descriptor } from "../run/files.ts";
import type { Ask, Turn } from "../run/player.ts";
import { attemptOf } from "../run/records.ts";
import { modelless } from "../run/substitutes.ts";
import { shown } from "../words/shown.ts";
import { useAttaching } from "./attach.tsx";
import { Consent } from "./consent.tsx";
import { useApp, useSelect, useStore, useText } from "./context.tsx";
import { areaLink } from "./areas.tsx";
import { ApprovalCard, isArguments } from "./approval.tsx";
import { answersOf, Field, fieldsOf } from "./field.tsx";
import { Icon, type IconName } from "./icons.tsx";
import { Markdown } from "./markdown.tsx";
import { fromBase64, save } from "./save.ts";
import { HostPlugins } from "./host-plugins.tsx";
import { AddModel, NoModel, useNeedsModel } from "./no-model.tsx";
import { SaveTest } from "./save-test.tsx";
import { Where } from "./where.tsx";
import { brief, seconds } from "./text.ts";
import { Reason } from "./reason.tsx";

const Microphone = lazy(() => import("./voice.tsx").then((voice) => ({ default: voice.Microphone })));
const ReadAloud = lazy(() => import("./voice.tsx").then((voice) => ({ default: voice.ReadAloud })));

/** Chat returns the drawer's first page. */
export function Chat(): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const allowed = useStore(session.allowed, (may) => may);
  const { turns, running } = useStore(session.player.play, (play) => play);
  const begin = useStore(session.document, (document) => document?.dsl.components["begin"]?.obj.params);
  const fields = useMemo(() => fieldsOf(begin?.["inputs"]), [begin]);
  const needsModel = useNeedsModel();
  const end = useRef<HTMLDivElement>(null);
  const last = turns.at(-1);
  useEffect(() => { void end.current?.scrollIntoView({ block: "end" }); }, [last?.state.answers, last?.state.status]);
  const prologue = typeof begin?.["prologue"] === "string" ? begin["prologue"] : "";
  const questions = useMemo(() => questionsOf(begin?.["questions"]), [begin]);
  const asks = Object.keys(fields).length > 0;
  const paused = last?.state.status === "paused" ? last.state.form : undefined;
  if (!allowed) return <div className="chat"><Consent /></div>;
  return (
    <div className="chat">
      <div className="transcript" role="log" aria-label={t("chat.transcript")} tabIndex={0}>
        {prologue && (
          <div className="bubble theirs">
            <Markdown text={prologue} />
          </div>
        )}
        {turns.length === 0 && needsModel && <NoModel />}
        {turns.length === 0 && !prologue && <p className="quiet">{t(asks ? "chat.form" : "chat.empty")}</p>}
        {turns.length === 0 && !asks && questions.length > 0 && (
          <div className="chips" role="group" aria-label={t("chat.examples")}>
            {questions.map((query) => (
              <button key={query} type="button" className="chip" onClick={() => session.player.send({ query })}>
                {query}
              </button>
            ))}
          </div>
        )}
        {turns.map((turn, i) => (
          <TurnView key={i} turn={turn} last={turn === last} fields={filledFields(turns, i, fields)} />
        ))}
        {paused && !running && (
          <Asked
            key={turns.length}
            fields={fieldsOf(paused.inputs)}
            tips={paused.tips}
            onDone={(inputs) => session.player.answer(inputs)}
          />
        )}
        <div ref={end} />
      </div>
      {running ? (
        <div className="composer">
          <button type="button" className="primary wide" onClick={() => session.player.cancel()}>
            <Icon name="stop" />
            {t("chat.stop")}
          </button>
        </div>
      ) : (
        !paused && <Composer fields={fields} task={begin?.["mode"] === "task"} first={turns.length === 0} />
      )}
    </div>
  );
}

const mostQuestions = 6;

// questionsOf returns the example questions of a canvas, each once.
function questionsOf(value: unknown): string[] {
  const list = Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
  return [...new Set(list.map((each) => each.trim()).filter(Boolean))].slice(0, mostQuestions);
}

// filledFields returns the fields of the form that a turn has filled: that of the pause before it,
// or that of the start.
function filledFields(
  turns: readonly Turn[], at: number, start: Record<string, FormField>,
): Record<string, FormField> {
  if (turns[at]?.ask.how?.kind !== "resume") return start;
  return fieldsOf(turns[at - 1]?.state.form?.inputs);
}

function TurnView({ turn, last, fields }: {
  turn: Turn; last: boolean; fields: Record<string, FormField>;
}): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const select = useSelect();
  const { ask, state, error, place } = turn;
  const nodeName = useStore(session.document, (document) => document?.model.byId.get(ask.how?.node ?? "")?.name);
  const failed = state.steps.findLast(({ status }) => status === "failed");
  const files = (ask.files ?? []) as Descriptor[];
  return (
    <>
      {ask.how && ask.how.kind !== "resume" && (
        <p className="quiet small">{t(`chat.${ask.how.kind}`, nodeName ?? ask.how.node ?? "")}</p>
      )}
      {(ask.query || ask.inputs) && (!ask.how || ask.how.kind === "resume") && (
        <div className="bubble mine">
          <span className="sr">{t("chat.you")}: </span>
          {ask.query}
          {ask.inputs && <Filled inputs={ask.inputs} fields={fields} />}
          {files.map((file) => (
            <span key={file.id} className="chip">
              <Icon name="attach" />
              {file.name}
            </span>
          ))}
        </div>
      )}
      {state.answers.map((answer, i) => (
        <AnswerView key={i} answer={answer} />
      ))}
      {last && state.status === "running" && state.answers.at(-1)?.done !== false && (
        <p className="quiet small">
          <span className="spinner" /> {t("chat.running")}
        </p>
      )}
      {last && state.status === "running" && <Attempts turn={turn} />}
      {state.status === "canceled" && <p className="quiet small">{t("status.canceled")}</p>}
      {(error ?? (state.status === "failed" ? state.error : undefined)) && (
        <p className="fault" role="alert">
          <Reason code={turn.code} message={error ?? state.error ?? ""} most={1_000} />
          {last && (
            <span className="fault-acts">
              <button type="button" onClick={() => session.player.repeat()}>{t("chat.again")}</button>
              {failed && (
                <button type="button" onClick={() => select(failed.node, { tab: "node", reveal: true })}>
                  {t("chat.show_node", failed.name || failed.node)}
                </button>
              )}
            </span>
          )}
        </p>
      )}
      <StandIns turn={turn} />
      <Relayed names={turn.substitutes.relayed} />
      {state.status === "succeeded" && state.elapsed !== undefined && (
        <p className="quiet small">
          {t(`where.${place}`)} · {seconds(state.elapsed)}
          {state.usage?.total_tokens ? ` · ${t("node.tokens", state.usage.total_tokens)}` : ""}
          {last && <SaveTest />}
        </p>
      )}
    </>
  );
}

// Attempts shows which steps are tried again.
function Attempts({ turn: { state, records } }: { turn: Turn }): React.ReactNode {
  const t = useText();
  const running = Object.values(state.latest).filter(({ status }) => status === "running");
  return running.map(({ node, name }) => {
    const attempt = attemptOf(records.events, node);
    return attempt && (
      <p key={node} className="small attempt" role="status">
        {t("chat.attempt", name || node, attempt.number, attempt.of)}
      </p>
    );
  });
}

// StandIns lists the answers of the run that came from stand-ins.
function StandIns({ turn: { model, state, records, substitutes } }: { turn: Turn }): React.ReactNode {
  const t = useText();
  const nodes = modelless(model, state, records.earlier);
  const lines: [icon: IconName, text: string][] = [];
  if (nodes.length > 0) lines.push(["spark", t("chat.no_model", t(`model.${model}`), listed(nodes, t))]);
  if (substitutes.tools.length > 0) lines.push(["tool", t("chat.no_tools", listed(substitutes.tools, t))]);
  if (substitutes.datasets.length > 0) lines.push(["search", t("chat.no_knowledge", listed(substitutes.datasets, t))]);
  if (lines.length === 0) return null;
  return (
    <section className="stand-ins" aria-label={t("chat.stand_ins")}>
      <b>{t("chat.stand_ins")}</b>
      <ul>
        {lines.map(([icon, text]) => (
          <li key={icon}>
            <Icon name={icon} />
            <span>{text} {icon === "spark" && <AddModel />}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

// Relayed lists the tools that the host ran.
function Relayed({ names }: { names: string[] }): React.ReactNode {
  const t = useText();
  return names.length > 0 && <p className="quiet small relayed">{t("chat.relayed", listed(names, t))}</p>;
}

const mostNamed = 6;

function listed(names: string[], t: ReturnType<typeof useText>): string {
  const more = names.length > mostNamed ? [t("canvas.more", names.length - mostNamed)] : [];
  return [...names.slice(0, mostNamed).map((name) => brief(name, 60)), ...more].join(", ");
}

function Filled({ inputs, fields }: {
  inputs: Record<string, unknown>; fields: Record<string, FormField>;
}): React.ReactNode {
  const t = useText();
  return (
    <dl className="filled">
      {Object.entries(inputs).map(([name, field]) => {
        const value = isObject(field) ? field["value"] : field;
        const asked = own(fields, name);
        const text = asked?.approval && (value === "yes" || value === "no")
          ? t(`approval.${value}`)
          : Array.isArray(value)
            ? value.map((each: Descriptor) => each.name ?? brief(each)).join(", ")
            : brief(value, 200);
        const label = asked?.approval
          ? asked.approval.tool_name || asked.approval.component_id
          : isArguments(name, fields) ? t("node.arguments") : asked?.name || name;
        return <div key={name}><dt>{label}</dt><dd>{text}</dd></div>;
      })}
    </dl>
  );
}

function AnswerView({ answer }: { answer: Answer }): React.ReactNode {
  const t = useText();
  const speaks = useStore(useApp().host.state, ({ voice }) => voice?.speech);
  const thinking = !answer.done && answer.parts.at(-1)?.kind === "think";
  const chunks = useMemo(() => chunksOf(answer.reference), [answer.reference]);
  const cite = useCallback(
    (id: string, key: number) => (
      <Citation key={key} id={String([...chunks.keys()].indexOf(id) + 1 || id)} chunk={chunks.get(id)} />
    ),
    [chunks],
  );
  return (
    <div className="bubble theirs" data-open={!answer.done || undefined}>
      <span className="sr">{t("chat.canvas")}: </span>
      {answer.parts.map((part, i) =>
        part.kind === "think" ? (
          <details key={i} className="think" open={thinking || undefined}>
            <summary>{t(thinking ? "chat.thinking" : "chat.thought")}</summary>
            <Markdown text={part.text} open={!answer.done} />
          </details>
        ) : (
          part.text && <Markdown key={i} text={part.text} cite={cite} open={!answer.done} />
        ),
      )}
      {chunks.size > 0 && (
        <details className="sources">
          <summary>
            {t("chat.sources")} ({chunks.size})
          </summary>
          <ul>
            {[...chunks].map(([id, chunk], i) => (
              <li key={id}>
                <b>{i + 1} {shown(chunk.document_name ?? id)}</b>
                <p>{chunk.content}</p>
                <OpenChunk chunk={chunk} />
              </li>
            ))}
          </ul>
        </details>
      )}
      {answer.attachment && (
        <span className="chip">
          <Icon name="attach" />
          {answer.attachment.file_name ?? answer.attachment.doc_id}
        </span>
      )}
      {(answer.downloads ?? []).map((each, i) => (
        <Download key={i} file={each} />
      ))}
      {speaks && answer.done && answer.parts.some(({ kind }) => kind !== "think") && (
        <Suspense><ReadAloud /></Suspense>
      )}
    </div>
  );
}

// A file that a canvas made. Its content may come along; a file on a server is only named.
function Download({ file }: { file: unknown }): React.ReactNode {
  if (!isObject(file)) return null;
  const name = String(file["filename"] ?? file["file_name"] ?? file["doc_id"] ?? "file");
  const { base64 } = file;
  if (typeof base64 !== "string") return <span className="chip"><Icon name="attach" />{name}</span>;
  return (
    <button type="button" className="chip" onClick={() => save(fromBase64(base64), name)}>
      <Icon name="save" />
      {name}
    </button>
  );
}

function Citation({ id, chunk }: { id: string; chunk: Chunk | undefined }): React.ReactNode {
  const t = useText();
  const anchor = useId();
  if (!chunk) return <sup className="cite">{id}</sup>;
  return (
    <>
      <button type="button" className="cite" popoverTarget={anchor} aria-label={t("chat.source", id)}>
        {id}
      </button>
      <span id={anchor} popover="auto" className="passage">
        <b>{shown(chunk.document_name ?? "")}</b>
        <span>{chunk.content}</span>
        <OpenChunk chunk={chunk} />
        {typeof chunk.url === "string" && /^https?:/.test(chunk.url) && (
          <a href={chunk.url} target="_blank" rel="noreferrer noopener">
            {chunk.url}
          </a>
        )}
      </span>
    </>
  );
}

// OpenChunk leads to a chunk in its document, on a page that a host serves.
function OpenChunk({ chunk: { id, dataset_id: dataset, document_id: document } }: { chunk: Chunk }): React.ReactNode {
  const t = useText();
  const { host } = useApp();
  const isOpen = useStore(host.state, ({ status }) => status === "open");
  if (!isOpen || typeof dataset !== "string" || !document || !id) return null;
  return <a href={areaLink("knowledge", dataset, document, id)}>{t("chat.open_chunk")}</a>;
}

function chunksOf(reference: Reference | undefined): Map<string, Chunk> {
  const chunks = reference?.chunks;
  if (!chunks) return new Map();
  if (Array.isArray(chunks)) return new Map(chunks.map((chunk, i) => [String(i), chunk]));
  return new Map(Object.entries(chunks));
}

function Asked({
  fields,
  tips,
  onDone,
}: {
  fields: Record<string, FormField>;
  tips: string;
  onDone(inputs: Record<string, unknown>): void;
}): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const [values, setValues] = useState<Record<string, unknown>>({});
  const undecided = Object.entries(fields).some(([name, field]) => field.approval && values[name] === undefined);
  return (
    <form
      className="bubble theirs form"
      onSubmit={(event) => {
        event.preventDefault();
        onDone(answersOf(fields, values));
      }}
    >
      {tips && <Markdown text={tips} />}
      {Object.entries(fields)
        .filter(([name]) => !isArguments(name, fields))
        .map(([name, field]) =>
          field.approval ? (
            <ApprovalCard key={name} name={name} approval={field.approval} values={values} onChange={setValues} />
          ) : (
            <Field
              key={name}
              name={name}
              field={field}
              value={values[name] ?? field.value}
              files={session.player.files}
              onChange={(value) => setValues({ ...values, [name]: value })}
            />
          ),
        )}
      <button type="submit" className="primary" disabled={undecided}>
        {t("chat.answer")}
      </button>
    </form>
  );
}

// Dictation is the microphone, where the host has a model for it.
function Dictation(acts: { onText(said: string): void; onFault(fault: string | undefined): void }): React.ReactNode {
  const hears = useStore(useApp().host.state, ({ voice }) => voice?.transcription);
  return hears && <Suspense><Microphone {...acts} /></Suspense>;
}

// Chosen lists files that go with the next message.
function Chosen({ files, onChange }: { files: Descriptor[]; onChange(files: Descriptor[]): void }): React.ReactNode {
  const t = useText();
  return files.length > 0 && (
    <div className="chips">
      {files.map((file) => (
        <button
          key={file.id}
          type="button"
          className="chip"
          aria-label={t("chat.remove", file.name)}
          onClick={() => onChange(files.filter((each) => each !== file))}
        >
          <Icon name="cross" />
          {file.name}
        </button>
      ))}
    </div>
  );
}

function Composer({
  fields,
  task,
  first,
}: {
  fields: Record<string, FormField>;
  task: boolean;
  first: boolean;
}): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const line = useRef<HTMLTextAreaElement>(null);
  const [unheard, setUnheard] = useState<string>();
  const [query, setQuery] = useState("");
  const [values, setValues] = useState<Record<string, unknown>>({});
  const [files, setFiles] = useState<Descriptor[]>([]);
  const picker = useRef<HTMLInputElement>(null);
  const { attach, busy, notes } = useAttaching(session.player.files);
  const add = async (list: FileList | null): Promise<void> => {
    const taken = await attach(list);
    setFiles((before) => [...before, ...taken]);
    if (picker.current) picker.current.value = ""; // the same file may be chosen again
  };
  const asks = Object.keys(fields).length > 0;
  const send = (): void => {
    const ask: Ask = {};
    if (query.trim()) ask.query = query.trim();
    if (asks) ask.inputs = answersOf(fields, values);
    if (files.length) ask.files = files;
    if (busy || (!asks && !ask.query && !ask.files)) return;
    session.player.send(ask);
    setQuery("");
    setFiles([]);
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {asks && (
        <div className="fields">
          {Object.entries(fields).map(([name, field]) => (
            <Field
              key={name}
              name={name}
              field={field}
              value={values[name] ?? field.value}
              files={session.player.files}
              onChange={(value) => setValues({ ...values, [name]: value })}
            />
          ))}
        </div>
      )}
      <Chosen files={files} onChange={setFiles} />
      {notes}
      {unheard && <p className="fault" role="alert">{unheard}</p>}
      <Where onRun={send} />
      <HostPlugins />
      <div className="line">
        {!task && (
          <textarea
            ref={line}
            rows={1}
            value={query}
            placeholder={t("chat.placeholder")}
            aria-label={t("chat.placeholder")}
            onChange={(event) => setQuery(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
                event.preventDefault();
                send();
              }
            }}
          />
        )}
        {!task && (
          <>
            <input ref={picker} type="file" multiple hidden onChange={(event) => void add(event.target.files)} />
            <button
              type="button"
              className="icon-button"
              title={t("chat.attach")}
              aria-label={t("chat.attach")}
              onClick={() => picker.current?.click()}
            >
              <Icon name="attach" />
            </button>
            <Dictation
              onText={(said) => {
                setQuery((typed) => (typed.trim() ? `${typed.trimEnd()} ${said}` : said));
                line.current?.focus();
              }}
              onFault={setUnheard}
            />
          </>
        )}
        {!first && (
          <button
            type="button"
            className="icon-button"
            title={t("chat.restart")}
            aria-label={t("chat.restart")}
            onClick={() => session.restart()}
          >
            <Icon name="loop" />
          </button>
        )}
        <button
          type="submit"
          disabled={busy}
          className={task ? "primary wide" : "primary icon-button"}
          aria-label={t(task ? "chat.run" : "chat.send")}
        >
          <Icon name={task ? "play" : "send"} />
          {task && t("chat.run")}
        </button>
      </div>
    </form>
  );
}
