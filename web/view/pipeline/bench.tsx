// The source and the output of each node, side by side, updated when settings change.

import { useEffect, useMemo, useRef, useState } from "react";
import type { CanvasNode } from "../../canvas/drawing.ts";
import type { Descriptor } from "../../run/files.ts";
import { payloadOf, placeOf, stations, type Piece } from "../../run/pipeline.ts";
import type { Step } from "@easel/engine/state";
import { useAreaText, useNamed } from "../area/text.ts";
import { useApp, useStore, useText } from "../context.tsx";
import SettingsForm from "../form/form.tsx";
import { Icon } from "../icons.tsx";
import { brief } from "../text.ts";

const shownAtOnce = 200;

/** Bench shows a document next to its blocks and chunks. */
export function Bench({ file, onClose }: { file: Descriptor; onClose(): void }): React.ReactNode {
  const t = useText();
  const a = useAreaText();
  const { session } = useApp();
  const model = useStore(session.document, (document) => document?.model);
  const { shown, running } = useStore(session.player.play, (play) => play);
  const [piece, setPiece] = useState<string>();
  const source = session.player.files.text(file);
  const columns = model
    ? stations(model, shown).filter(
        ({ node, step }) => payloadOf(step) !== undefined || node.params["setups"] !== undefined || step?.error,
      )
    : [];
  // Pieces of the last step with other settings, to be compared.
  const [kept, setKept] = useState<readonly Piece[]>();
  const last = columns.flatMap(({ step }) => payloadOf(step) ?? []).at(-1)?.pieces;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} className="bench" aria-label={a("pipeline.wide")} onClose={onClose}>
      <header className="tools">
        <h2>{file.name}</h2>
        {running && <span className="spinner" role="status" aria-label={t("chat.running")} />}
        <span className="grow" />
        {last && !running && (
          <button type="button" onClick={() => setKept(kept ? undefined : last)}>
            <Icon name="pin" />
            {a(kept ? "pipeline.forget" : "pipeline.keep")}
          </button>
        )}
        <button type="button" onClick={() => dialog.current?.close()}>
          {t("error.close")}
        </button>
      </header>
      <div className="columns" tabIndex={0} role="group" aria-label={a("pipeline.steps")}>
        <Source text={source} piece={piece} />
        {columns.map(({ node, step }) => (
          <Column key={node.id} node={node} step={step} chosen={piece} onChoose={setPiece} />
        ))}
        {kept && <Kept pieces={kept} now={last ?? []} chosen={piece} onChoose={setPiece} />}
      </div>
    </dialog>
  );
}

function Source({ text, piece }: { text: string; piece: string | undefined }): React.ReactNode {
  const a = useAreaText();
  const place = useMemo(() => (piece === undefined ? undefined : placeOf(text, piece)), [text, piece]);
  const mark = useRef<HTMLElement>(null);
  useEffect(() => {
    mark.current?.scrollIntoView({ block: "center" });
  }, [place]);
  const picture = text.startsWith("data:image/");
  return (
    <section className="column source" aria-label={a("pipeline.source")}>
      <h3>
        {a("pipeline.source")} <small>{picture ? "" : a("pipeline.characters", text.length.toLocaleString())}</small>
      </h3>
      {piece !== undefined && !place && (
        <p className="quiet small" role="status">
          {a("pipeline.not_found")}
        </p>
      )}
      <div className="scroller" tabIndex={0} role="group" aria-label={a("pipeline.source")}>
        {picture ? (
          <img src={text} alt="" />
        ) : place ? (
          <pre>
            {text.slice(0, place.from)}
            <mark ref={mark}>{text.slice(place.from, place.to)}</mark>
            {text.slice(place.to)}
          </pre>
        ) : (
          <pre>{text}</pre>
        )}
      </div>
    </section>
  );
}

function Column({
  node,
  step,
  chosen,
  onChoose,
}: {
  node: CanvasNode;
  step: Step | undefined;
  chosen: string | undefined;
  onChoose(text: string): void;
}): React.ReactNode {
  const t = useText();
  const a = useAreaText();
  const { session } = useApp();
  const spec = useStore(session.specs, (specs) => specs.get(node.kind));
  const problems = useStore(session.problems, (all) => all);
  const payload = payloadOf(step);
  const [many, setMany] = useState(false);
  const pieces = payload?.pieces ?? [];
  return (
    <section className="column" aria-label={node.name || node.id}>
      <h3>
        {node.name || node.id}{" "}
        <small>
          {payload &&
            a(
              payload.format === "chunks"
                ? "pipeline.count"
                : payload.format === "json"
                  ? "pipeline.count_blocks"
                  : "pipeline.whole",
              pieces.length,
            )}
        </small>
      </h3>
      <details className="more">
        <summary>{t("node.settings")}</summary>
        <SettingsForm
          node={node.id}
          spec={spec}
          params={node.params}
          changed={{}}
          problems={problems.filter((problem) => problem.node === node.id)}
          onChange={(key, value) => session.edit(node.id, key, value)}
        />
      </details>
      {step?.error && (
        <p className="fault" role="alert">
          {brief(step.error, 600)}
        </p>
      )}
      <ol className="scroller" tabIndex={0} aria-label={a("pipeline.pieces_of", node.name || node.id)}>
        {pieces.slice(0, many ? undefined : shownAtOnce).map((piece, i) => (
          <li key={i}>
            <PieceView
              number={i + 1}
              piece={piece}
              chosen={chosen === piece.text}
              onChoose={() => onChoose(piece.text)}
            />
          </li>
        ))}
        {!many && pieces.length > shownAtOnce && (
          <li>
            <button type="button" onClick={() => setMany(true)}>
              {a("pipeline.more", pieces.length - shownAtOnce)}
            </button>
          </li>
        )}
      </ol>
    </section>
  );
}

// Kept shows the pieces that were kept, and how many of them are the same now.
function Kept({ pieces, now, chosen, onChoose }: {
  pieces: readonly Piece[];
  now: readonly Piece[];
  chosen: string | undefined;
  onChoose(text: string): void;
}): React.ReactNode {
  const a = useAreaText();
  const texts = useMemo(() => new Set(pieces.map(({ text }) => text)), [pieces]);
  const same = now.filter(({ text }) => texts.has(text)).length;
  return (
    <section className="column" aria-label={a("pipeline.kept")}>
      <h3>
        {a("pipeline.kept")} <small>{a("pipeline.count", pieces.length)}</small>
      </h3>
      <p className="facts" role="status">{a("pipeline.same", same, now.length)}</p>
      <ol className="scroller" tabIndex={0} aria-label={a("pipeline.pieces_of", a("pipeline.kept"))}>
        {pieces.slice(0, shownAtOnce).map((piece, i) => (
          <li key={i}>
            <PieceView
              number={i + 1} piece={piece} chosen={chosen === piece.text} onChoose={() => onChoose(piece.text)}
            />
          </li>
        ))}
      </ol>
    </section>
  );
}

function PieceView({
  number,
  piece,
  chosen,
  onChoose,
}: {
  number: number;
  piece: Piece;
  chosen: boolean;
  onChoose(): void;
}): React.ReactNode {
  const a = useAreaText();
  const named = useNamed();
  return (
    <button type="button" className="piece" aria-pressed={chosen} onClick={onChoose}>
      <small>
        #{number}
        {piece.kind && ` · ${named("kind", piece.kind)}`} ·{" "}
        {a("pipeline.characters", piece.text.length.toLocaleString())}
      </small>
      <span>{piece.text}</span>
      {piece.extra.map(([name, value]) => (
        <small key={name}>
          <b>{name}</b> {brief(value, 200)}
        </small>
      ))}
    </button>
  );
}
