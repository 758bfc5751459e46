// The canvases of a person: the drafts of this browser, and what the host stores.

import { useCallback, useEffect, useState } from "react";
import { messageOf } from "@easel/engine";
import type { HostCanvas } from "../../run/host.ts";
import type { Draft, Drafts } from "../../run/drafts.ts";
import { shown } from "../../words/shown.ts";
import { pick } from "../../words/words.ts";
import { Confirm, Fault } from "../area/parts.tsx";
import { AreaLinks } from "../areas.tsx";
import { useApp, useLook, useStore, useText } from "../context.tsx";
import { SignIn } from "../host.tsx";
import { Icon } from "../icons.tsx";
import { Share } from "../share.tsx";
import type { HomeActs } from "./acts.ts";
import { useHomeText } from "./text.ts";

const mostDrafts = 60;

/** Canvases lists those whose title has the words; "" lists all. */
export function Canvases({ words, acts }: { words: string; acts: HomeActs }): React.ReactNode {
  const { drafts, session } = useApp();
  const h = useHomeText();
  const ready = useStore(session.specs, (specs) => specs.size > 0);
  return (
    <>
      <section className="mine" aria-labelledby="mine-title">
        <h2 id="mine-title">{h("here")}</h2>
        <ul className="cards">
          {words === "" && (
            <li>
              <button type="button" className="card new" disabled={!ready} onClick={acts.onNew}>
                <Icon name="plus" />
                <b>{h("new")}</b>
                <span>{h("new_hint")}</span>
              </button>
            </li>
          )}
          {drafts && <DraftCards drafts={drafts} words={words} onOpen={acts.onDraft} />}
        </ul>
        {drafts && words === "" && <NoDrafts drafts={drafts} />}
      </section>
      <OnHost words={words} onOpen={acts.onHost} />
    </>
  );
}

function NoDrafts({ drafts }: { drafts: Drafts }): React.ReactNode {
  const h = useHomeText();
  const none = useStore(drafts.list, (list) => list.length === 0);
  return none ? <p className="quiet hint">{h("here_none")}</p> : null;
}

function DraftCards({
  drafts,
  words,
  onOpen,
}: {
  drafts: Drafts;
  words: string;
  onOpen(key: string): void;
}): React.ReactNode {
  const h = useHomeText();
  const language = useLook((look) => look.language);
  const list = useStore(drafts.list, (now) => now);
  const [all, setAll] = useState(false);
  const found = list.flatMap((draft) => {
    const title = pick(draft.title, language) || h("untitled");
    return title.toLocaleLowerCase().includes(words.toLocaleLowerCase()) ? [{ ...draft, title }] : [];
  });
  const when = useWhen();
  const cards = found.slice(0, all ? found.length : mostDrafts).map(({ key, title, source, updated }) => (
    <li key={key} className="deletable">
      <button type="button" className="card draft" onClick={() => onOpen(key)}>
        <b>{shown(title)}</b>
        <small>
          <Where source={source.kind} /> · {h("changed", when(updated))}
        </small>
      </button>
      <Confirm label={h("delete", title)} sure={h("delete_sure")} icon onDone={() => void drafts.drop(key)} />
    </li>
  ));
  return (
    <>
      {cards}
      {cards.length < found.length && (
        <li>
          <button type="button" className="card" onClick={() => setAll(true)}>{h("more_drafts", found.length)}</button>
        </li>
      )}
    </>
  );
}

function Where({ source }: { source: Draft["source"]["kind"] }): React.ReactNode {
  const h = useHomeText();
  return h(source === "host" ? "unsaved" : "browser_only");
}

/** OnHost lists what the host has, after somebody asked for it. */
function OnHost({ words, onOpen }: { words: string; onOpen(id: string): void }): React.ReactNode {
  const t = useText();
  const { host } = useApp();
  const { status, fault, name } = useStore(host.state, (state) => state);
  return (
    <section className="on-host" aria-labelledby="host-title" aria-busy={status === "asking"}>
      <div className="line">
        <h2 id="host-title">{t("host.title")}</h2>
        {name && <span className="quiet small">{name}</span>}
        {status === "open" && (
          <button type="button" className="link" onClick={() => void host.signOut().catch(() => host.connect())}>
            {t("host.sign_out")}
          </button>
        )}
        {status !== "open" && <AreaLinks always />}
      </div>
      {status === "unknown" && (
        <button type="button" onClick={() => void host.connect()}>
          {t("host.show")}
        </button>
      )}
      {status === "asking" && <Asking />}
      {status === "none" && (
        <p className="quiet" role="status">
          {t("host.none", fault ?? "")}{" "}
          <button type="button" onClick={() => void host.connect()}>
            {t("host.again")}
          </button>
        </p>
      )}
      {status === "closed" && <SignIn />}
      {status === "open" && <HostCards words={words} onOpen={onOpen} />}
    </section>
  );
}

function Asking(): React.ReactNode {
  const t = useText();
  return (
    <p className="quiet" role="status">
      <span className="spinner" /> {t("host.asking")}
    </p>
  );
}

function HostCards({ words, onOpen }: { words: string; onOpen(id: string): void }): React.ReactNode {
  const t = useText();
  const h = useHomeText();
  const { host } = useApp();
  const { canvases, total, found, fault } = useStore(host.state, (state) => state);
  const find = useCallback(() => {
    host.find(words).catch((err: unknown) => host.state.update({ fault: messageOf(err) }));
  }, [words, host]);
  useEffect(() => {
    if (words === found) return;
    const timer = setTimeout(find, 200);
    return () => clearTimeout(timer);
  }, [words, found, find]);
  const when = useWhen();
  const card = ({ id, title, description, updated, published, permission }: HostCanvas): React.ReactNode => (
    <li key={id}>
      <button type="button" className="card" onClick={() => onOpen(id)}>
        <b>{shown(title)}</b>
        {description && <span>{description}</span>}
        <small>
          {published && <span className="badge state good">{h("published")}</span>}
          {h("changed", when(Date.parse(updated)))}
        </small>
      </button>
      <Share id={id} title={title} team={permission === "team"} />
    </li>
  );
  if (fault !== undefined && words !== found) return <Fault text={fault} onAgain={find} />;
  if (canvases.length === 0 && found === undefined) return <Asking />;
  if (canvases.length === 0) return <p className="quiet">{t(words === "" ? "host.none_yet" : "host.empty")}</p>;
  return (
    <>
      <ul className="cards">{canvases.map(card)}</ul>
      {total > canvases.length && <p className="quiet small">{t("host.count", canvases.length, total)}</p>}
    </>
  );
}

function useWhen(): (time: number) => string {
  const language = useLook((look) => look.language);
  const format = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  return (time) => format.format(time);
}
