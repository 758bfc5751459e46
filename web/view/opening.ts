// The commands in the address: #example=id, #template=id for a copy of a template, #c=canvas in the
// link itself, #canvas=id of the host, #draft=key of this browser, #open=/path on this origin,
// #try=/dev/ of a plugin being written, #host for the list of the host's canvases. Any site can
// link to such an address, so it is read without the person's login, except for canvases of the
// host's list.

import { useEffect, useRef } from "react";
import { unpack } from "../canvas/link.ts";
import type { Plugins } from "../run/plugins.ts";
import type { Session, Source } from "../run/session.ts";
import { trialFolder, tryOut } from "../run/trial.ts";
import { useApp } from "./context.tsx";
import { loadExamples, loadTemplates, type Template } from "./example.ts";
import { reasonOf, type Told } from "./reason.tsx";

/** Opening is the ways in which canvases are opened. */
export interface Opening {
  /** opens begins to open something, and returns whether nothing else was opened since. */
  opens(): () => boolean;
  openText(text: string, name: string, source: Source): void;
  openTemplate(template: Template): Promise<void>;
  openCanvas(id: string): Promise<void>;
  openDraft(key: string): Promise<void>;
  /**
   * replace calls open at once, or after the person agreed to lose what is not saved; otherwise
   * keep.
   */
  replace(open: () => void, keep: () => void): void;
  fail(told: Told): void;
}

/** useOpening follows the address, now and whenever its fragment changes. */
export function useOpening(opening: Opening): void {
  const { host, session } = useApp();
  const latest = useRef(opening);
  latest.current = opening;
  useEffect(() => {
    let leave = (): void => undefined;
    const follow = async (): Promise<void> => {
      const { opens, openText, openCanvas: ask, openDraft: resume, fail } = latest.current;
      const isLatest = opens();
      const show: Opening["openText"] = (...given) => isLatest() && openText(...given);
      const fragment = location.hash.slice(1);
      const [key, value = ""] = split(fragment, "=");
      leave();
      leave = () => undefined;
      try {
        const example = key === "example" ? await withId(loadExamples(), value) : undefined;
        const template = key === "template" ? await withId(loadTemplates(), value) : undefined;
        if (!isLatest()) return;
        if (template) await latest.current.openTemplate(template);
        else if (example) show(JSON.stringify(example), example.id, { kind: "example" });
        else if (key === "c") show(...(await linked(session, value)), { kind: "link" });
        else if (key === "draft") await resume(decodeURIComponent(value));
        else if (key === "canvas") await ask(decodeURIComponent(value));
        else if (key === "open")
          show(
            await session.complete(await fromOrigin(value)),
            value
              .split("/")
              .at(-1)
              ?.replace(/\.json$/, "") ?? "",
            { kind: "link" },
          );
        else if (key === "try") leave = trial(value, session.plugins, (text) => show(text, "", { kind: "plugin" }));
        else if (fragment === "host") await host.connect();
      } catch (err) {
        if (isLatest()) fail((words) => words("error.link", reasonOf(err)));
      }
    };
    void follow();
    const again = ({ oldURL }: HashChangeEvent): void => {
      const opens = /^#(example|template|c|canvas|draft|open|try)=/.test(location.hash);
      if (opens) latest.current.replace(() => void follow(), () => history.replaceState(null, "", oldURL));
      else void follow();
    };
    addEventListener("hashchange", again);
    return () => {
      removeEventListener("hashchange", again);
      leave();
    };
  }, [host, session]);
}

async function withId<T extends { id: string }>(list: Promise<T[]>, id: string): Promise<T | undefined> {
  return (await list).find((each) => each.id === id);
}

function split(text: string, mark: string): [string, string] {
  const cut = text.indexOf(mark);
  return cut < 0 ? [text, ""] : [text.slice(0, cut), text.slice(cut + mark.length)];
}

// linked reads a canvas from a link, and the title that may follow it.
async function linked(session: Session, value: string): Promise<[text: string, name: string]> {
  const [packed, name] = split(value, "&name=");
  return [await session.complete(await unpack(packed)), decodeURIComponent(name)];
}

function ofOrigin(path: string): URL {
  const address = new URL(decodeURIComponent(path), location.href);
  if (address.origin !== location.origin) throw new Error("only canvases of this host can be opened by address");
  return address;
}

async function fromOrigin(path: string): Promise<string> {
  const response = await fetch(ofOrigin(path), {
    credentials: "omit",
    redirect: "error",
    referrerPolicy: "no-referrer",
  });
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  return response.text();
}

function trial(path: string, plugins: Plugins, show: (canvas: string) => void): () => void {
  if (path !== trialFolder) throw new Error(`plugins are tried from ${trialFolder} only`);
  return tryOut(plugins, show);
}
