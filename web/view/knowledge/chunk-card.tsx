// One chunk of a document.

import type { StoredChunk } from "../../run/datasets.ts";
import { Confirm } from "../area/parts.tsx";
import { useAreaText } from "../area/text.ts";
import { PagePlace } from "./place.tsx";

/** ChunkCard shows a chunk; without acts it cannot be changed. */
export function ChunkCard({ number, chunk, words, isTyped, acts }: {
  /** Its place in the list; undefined is a chunk that is shown alone. */
  number: number | undefined;
  chunk: StoredChunk;
  words: string;
  /** An edit of it was left without saving. */
  isTyped: boolean;
  acts: { edit(): void; enable(on: boolean): void; merge?(): void; remove(): void } | undefined;
}): React.ReactNode {
  const a = useAreaText();
  const at = number ?? "";
  return (
    <li className="chunk-card" data-off={chunk.enabled ? undefined : true}>
      <div className="chunk-head">
        <span className="facts">
          {number === undefined ? a("chunk.cited") : `#${number}`}
          {chunk.kind && chunk.kind !== "text" ? ` · ${chunk.kind}` : ""}
          {chunk.edited ? ` · ${a("chunk.edited")}` : ""}
          {isTyped ? ` · ${a("chunk.unsaved")}` : ""}
        </span>
        <span className="grow" />
        {acts && (
          <>
            <label className="row">
              <input
                type="checkbox" aria-label={a("chunk.enabled_of", at)} checked={chunk.enabled}
                onChange={(event) => acts.enable(event.target.checked)}
              />
              {a("document.searched")}
            </label>
            <button type="button" aria-label={a("chunk.edit_of", at)} onClick={acts.edit}>
              {a("chunk.edit")}
            </button>
            {acts.merge && (
              <button type="button" aria-label={a("chunk.merge_of", at)} onClick={acts.merge}>
                {a("chunk.merge")}
              </button>
            )}
            <Confirm icon label={a("chunk.delete_of", at)} sure={a("document.delete_one")} onDone={acts.remove} />
          </>
        )}
      </div>
      <div className="chunk-body">
        <p className="chunk-text">
          <Marked text={chunk.content} words={words} />
        </p>
        <PagePlace positions={chunk.positions} />
      </div>
      {(chunk.keywords?.length ?? 0) > 0 && (
        <p className="chips">
          {chunk.keywords?.map((word) => (
            <span key={word} className="chip">
              {word}
            </span>
          ))}
        </p>
      )}
      {(chunk.questions?.length ?? 0) > 0 && (
        <ul className="quiet small">
          {chunk.questions?.map((question) => (
            <li key={question}>{question}</li>
          ))}
        </ul>
      )}
    </li>
  );
}

/** Marked shows where the words that were searched for stand. */
export function Marked({ text, words }: { text: string; words: string }): React.ReactNode {
  if (words === "") return text;
  const pattern = new RegExp(`(${words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")})`, "giu");
  return text.split(pattern).map((part, i) => (i % 2 === 1 ? <mark key={i}>{part}</mark> : part));
}
