// The form of a chunk. What was typed stays until it is saved or discarded, even when others change
// the chunk.

import { useEffect, useRef, useState } from "react";
import type { ChunkPatch, StoredChunk } from "../../run/datasets.ts";
import { HostError } from "../../run/host.ts";
import { Fault } from "../area/parts.tsx";
import { useAreaText } from "../area/text.ts";
import { useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { reasonOf } from "../reason.tsx";

interface Typed {
  content: string;
  keywords: string;
  questions: string;
}

/**
 * typedIn keeps what was typed into forms that were left, by chunk or document, with the chunk of
 * then: saving it must not undo what others did since.
 */
const typedIn = new Map<string, { typed: Typed; base: StoredChunk | undefined }>();

/** ChunkActs are the acts of a form. */
export interface ChunkActs {
  /** save stores the chunk; with a version it fails if somebody changed it since. */
  save(patch: ChunkPatch): Promise<void>;
  /** split cuts the chunk in two; absent for a new one. */
  split?(first: string, second: string, version: string | undefined): Promise<void>;
  /** latest reads the chunk again; undefined is one that does not exist any more. */
  latest(): Promise<StoredChunk | undefined>;
  /** add stores what was typed as a new chunk. */
  add(patch: ChunkPatch): Promise<void>;
  close(): void;
}

const fieldsOf = (chunk: StoredChunk | undefined): Typed => ({
  content: chunk?.content ?? "",
  keywords: (chunk?.keywords ?? []).join(", "),
  questions: (chunk?.questions ?? []).join("\n"),
});

const parts = (text: string, at: RegExp): string[] => text.split(at).map((each) => each.trim()).filter(Boolean);

function patchOf({ content, keywords, questions }: Typed): ChunkPatch {
  return { content, keywords: parts(keywords, /[,，、]/), questions: parts(questions, /\n/) };
}

/** ChunkEdit edits a chunk, or a new one; `draft` names what was typed. */
export function ChunkEdit({ label, draft, chunk, isGone = false, acts }: {
  label: string;
  draft: string;
  chunk?: StoredChunk;
  /** A parse or a person has removed the chunk. */
  isGone?: boolean;
  acts: ChunkActs;
}): React.ReactNode {
  const a = useAreaText();
  const [base, setBase] = useState(() => typedIn.get(draft)?.base ?? chunk);
  const [typed, setTyped] = useState(() => typedIn.get(draft)?.typed ?? fieldsOf(chunk));
  const [theirs, setTheirs] = useState<StoredChunk | "gone" | undefined>(isGone ? "gone" : undefined);
  const [fault, setFault] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const isChanged = JSON.stringify(typed) !== JSON.stringify(fieldsOf(base));
  useKept(draft, typed, base, isChanged);
  const end = (): void => {
    typedIn.delete(draft);
    acts.close();
  };
  const run = async (act: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setFault(undefined);
    try {
      await act();
      end();
    } catch (err) {
      if (base && err instanceof HostError && (err.code === "changed" || err.status === 404))
        setTheirs((await acts.latest().catch(() => undefined)) ?? "gone");
      else setFault(reasonOf(err));
    } finally {
      setBusy(false);
    }
  };
  // A split stores the text only; the other fields follow, else they were lost with the form.
  const split = async (first: string, second: string): Promise<void> => {
    await acts.split?.(first, second, base?.version);
    const { keywords, questions } = patchOf(typed);
    const before = fieldsOf(base);
    if (typed.keywords !== before.keywords || typed.questions !== before.questions)
      await acts.save({ keywords: keywords ?? [], questions: questions ?? [] });
  };
  const save = (version = base?.version): void =>
    void run(() => acts.save({ ...patchOf(typed), ...(version === undefined ? {} : { version }) }));
  return (
    <form
      className="chunk-card edit" aria-label={label}
      onKeyDown={(event) => {
        if (event.key === "Escape") acts.close();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <Fields typed={typed} onChange={setTyped} disabled={isBusy}
        onSplit={acts.split && theirs === undefined
          ? (first, second) => void run(() => split(first, second))
          : undefined} />
      {theirs !== undefined && (
        <Conflict
          theirs={theirs}
          onMine={() => (theirs === "gone" ? void run(() => acts.add(patchOf(typed))) : save(theirs.version))}
          onTheirs={() => {
            if (theirs === "gone") return end();
            setBase(theirs);
            setTyped(fieldsOf(theirs));
            setTheirs(undefined);
          }}
        />
      )}
      <p className="quiet small">{a("chunk.edit_hint")}</p>
      <Fault text={fault} />
      <Buttons
        onDiscard={isChanged && base ? () => setTyped(fieldsOf(base)) : undefined} onClose={acts.close}
        disabled={isBusy || typed.content.trim() === "" || theirs !== undefined}
      />
    </form>
  );
}

function Buttons({ disabled, onDiscard, onClose }: {
  disabled: boolean;
  onDiscard: (() => void) | undefined;
  onClose(): void;
}): React.ReactNode {
  const t = useText();
  const a = useAreaText();
  return (
    <div className="tools end">
      {onDiscard && (
        <button type="button" onClick={onDiscard}>
          {a("chunk.discard")}
        </button>
      )}
      <button type="button" onClick={onClose}>
        {t("error.close")}
      </button>
      <button type="submit" className="primary" disabled={disabled}>
        {a("save")}
      </button>
    </div>
  );
}

// useKept keeps unsaved input when the form closes, and warns before the page unloads.
function useKept(draft: string, typed: Typed, base: StoredChunk | undefined, isChanged: boolean): void {
  const latest = useRef({ typed, isChanged });
  latest.current = { typed, isChanged };
  useEffect(() => {
    if (isChanged) typedIn.set(draft, { typed, base });
    else typedIn.delete(draft);
  }, [draft, typed, base, isChanged]);
  useEffect(() => {
    const leave = (event: BeforeUnloadEvent): void => {
      if (latest.current.isChanged) event.preventDefault();
    };
    addEventListener("beforeunload", leave);
    return () => removeEventListener("beforeunload", leave);
  }, []);
}

/** isTyped reports whether a form was left with something that is not saved. */
export function isTyped(draft: string): boolean {
  return typedIn.has(draft);
}

function Fields({ typed, disabled, onChange, onSplit }: {
  typed: Typed;
  disabled: boolean;
  onChange(typed: Typed): void;
  onSplit: ((first: string, second: string) => void) | undefined;
}): React.ReactNode {
  const a = useAreaText();
  const area = useRef<HTMLTextAreaElement>(null);
  const [at, setAt] = useState(0);
  // The text may have been replaced since the caret was there.
  const cut = /^[\uDC00-\uDFFF]/.test(typed.content.slice(at)) ? at - 1 : at;
  const first = typed.content.slice(0, cut).trim();
  const second = typed.content.slice(cut).trim();
  return (
    <>
      <label className="field">
        {a("chunk.content")}
        <textarea
          ref={area} autoFocus required rows={8} value={typed.content}
          onSelect={(event) => setAt(event.currentTarget.selectionStart)}
          onChange={(event) => onChange({ ...typed, content: event.target.value })}
        />
      </label>
      {onSplit && (
        <div className="tools">
          <button
            type="button" disabled={disabled || first === "" || second === ""} onClick={() => onSplit(first, second)}
          >
            <Icon name="across" />
            {a("chunk.split")}
          </button>
          <small className="quiet">
            {first === "" || second === "" ? a("chunk.split_hint") : `${ends(first)} | ${begins(second)}`}
          </small>
        </div>
      )}
      <label className="field">
        {a("chunk.keywords")}
        <input
          type="text" value={typed.keywords} onChange={(event) => onChange({ ...typed, keywords: event.target.value })}
        />
      </label>
      <label className="field">
        {a("chunk.questions")}
        <textarea
          rows={2} value={typed.questions} onChange={(event) => onChange({ ...typed, questions: event.target.value })}
        />
      </label>
    </>
  );
}

const shown = 24; // characters of a part that the hint of a split shows
const ends = (text: string): string => (text.length > shown ? `…${text.slice(-shown)}` : text);
const begins = (text: string): string => (text.length > shown ? `${text.slice(0, shown)}…` : text);

// Conflict warns that the chunk was changed after the person began to write.
function Conflict({ theirs, onMine, onTheirs }: {
  theirs: StoredChunk | "gone";
  onMine(): void;
  onTheirs(): void;
}): React.ReactNode {
  const a = useAreaText();
  return (
    <div className="fault" role="alert">
      <p>{a(theirs === "gone" ? "chunk.gone" : "chunk.changed")}</p>
      {theirs !== "gone" && <pre className="chunk-theirs">{theirs.content}</pre>}
      <div className="tools">
        <button type="button" onClick={onMine}>
          {a(theirs === "gone" ? "chunk.add_mine" : "chunk.save_mine")}
        </button>
        <button type="button" onClick={onTheirs}>
          {a(theirs === "gone" ? "chunk.discard" : "chunk.take_theirs")}
        </button>
      </div>
    </div>
  );
}
