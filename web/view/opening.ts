// What the address asks for: #example=id, #c=canvas in the link itself, #canvas=id of
// the host, #open=/path on this origin, #try=/path/ of a plugin that is being written,
// #host for the list of the host's canvases.

import { useEffect, useRef } from "react";
import { messageOf } from "@easel/engine";
import { unpack } from "../canvas/link.ts";
import { tryOut } from "../run/trial.ts";
import { useApp, useText } from "./context.tsx";
import type { Example } from "./gallery.tsx";

/** useOpening follows the address, now and whenever its fragment changes. */
export function useOpening(
  examples: Example[], openText: (text: string, name: string) => void, openCanvas: (id: string) => Promise<void>, fail: (message: string) => void,
): void {
  const t = useText();
  const { host, session } = useApp();
  const latest = useRef({ openText, openCanvas, fail, t });
  latest.current = { openText, openCanvas, fail, t };
  useEffect(() => {
    let leave = (): void => undefined;
    const follow = async (): Promise<void> => {
      const { openText: show, openCanvas: ask, fail: complain, t: words } = latest.current;
      const fragment = location.hash.slice(1);
      const [key, value = ""] = split(fragment, "=");
      leave();
      leave = () => undefined;
      const example = key === "example" ? examples.find((each) => each.id === value) : undefined;
      try {
        if (example) show(JSON.stringify(example), example.id);
        else if (key === "c") show(...(await linked(value)));
        else if (key === "canvas") await ask(decodeURIComponent(value));
        else if (key === "open") show(await fromOrigin(value), value.split("/").at(-1)?.replace(/\.json$/, "") ?? "");
        else if (key === "try") leave = tryOut(ofOrigin(value), session.plugins, (text) => show(text, ""));
        else if (fragment === "host") await host.connect();
      } catch (err) {
        complain(words("error.link", messageOf(err)));
      }
    };
    void follow();
    const again = (): void => void follow();
    addEventListener("hashchange", again);
    return () => {
      removeEventListener("hashchange", again);
      leave();
    };
  }, [examples, host, session]);
}

function split(text: string, mark: string): [string, string] {
  const cut = text.indexOf(mark);
  return cut < 0 ? [text, ""] : [text.slice(0, cut), text.slice(cut + mark.length)];
}

// linked reads a canvas from a link, and the title that may follow it.
async function linked(value: string): Promise<[text: string, name: string]> {
  const [packed, name] = split(value, "&name=");
  return [await unpack(packed), decodeURIComponent(name)];
}

function ofOrigin(path: string): URL {
  const address = new URL(decodeURIComponent(path), location.href);
  if (address.origin !== location.origin) throw new Error("only canvases of this host can be opened by address");
  return address;
}

async function fromOrigin(path: string): Promise<string> {
  const response = await fetch(ofOrigin(path));
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  return response.text();
}
