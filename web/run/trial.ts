// A plugin that is being written: `easel plugin dev` serves the page, a canvas around the
// plugin, its module, and a message for each build. The newest build replaces the previous one; the
// canvas stays.

import type { Plugins } from "./plugins.ts";

interface Build {
  /** Of the current module; empty before the first. */
  digest: string;
  /** The error of the last build. */
  fault?: string;
}

/** trialFolder is where `easel plugin dev` serves a plugin. A link cannot choose another folder. */
export const trialFolder = "/dev/";

/**
 * tryOut follows the builds until the returned function is called. `show` gets the canvas, once.
 */
export function tryOut(plugins: Plugins, show: (canvas: string) => void): () => void {
  const folder = new URL(trialFolder, location.origin);
  const at = async (name: string): Promise<Response> => {
    const response = await fetch(new URL(name, folder), {
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
    });
    if (!response.ok) throw new Error(await response.text());
    return response;
  };
  const fail = (error: unknown): void => plugins.fault.set({ name: "", error });
  let digest = "";
  let shown = false;
  const take = async (build: Build): Promise<void> => {
    const fresh = build.digest !== digest;
    if (fresh) {
      digest = build.digest;
      await plugins.add(new File([await (await at("plugin.wasm")).arrayBuffer()], "plugin.wasm"));
    }
    if (!shown && digest !== "") {
      show(await (await at("canvas.json")).text());
      shown = true;
    }
    if (build.fault) fail(new Error(build.fault));
    else if (!fresh) plugins.fault.set(undefined);
  };
  const news = new EventSource(new URL("builds", folder));
  let last = Promise.resolve();
  news.onmessage = ({ data }: MessageEvent<string>) => {
    last = last.then(() => take(JSON.parse(data) as Build)).catch(fail);
  };
  return () => news.close();
}
