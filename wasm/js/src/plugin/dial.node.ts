// Sends requests of plugins in Node: every address is checked when it is
// dialled, so that a name cannot resolve to a private one. No proxy of the environment
// is used, and the caller handles redirects.

import { lookup as resolve, type LookupAddress } from "node:dns";
import { request as plain } from "node:http";
import { request as secure } from "node:https";
import { Readable } from "node:stream";
import { PluginError } from "./error.ts";
import { special } from "./special.ts";

type Lookup = (error: Error | null, addresses: LookupAddress[] | string, family?: number) => void;

/**
 * dial returns a fetch that connects to public addresses only, unless private addresses are
 * allowed.
 */
export function dial(allowPrivate: boolean, lookup: typeof resolve = resolve): typeof globalThis.fetch {
  const checked = (host: string, options: { all?: boolean }, done: Lookup): void => {
    lookup(host, { ...options, all: true }, (err, found) => {
      const fit = allowPrivate ? found : found?.filter(({ address }) => !special(address));
      if (err) return done(err, []);
      if (fit.length === 0)
        return done(
          new PluginError("denied", `http.fetch: host ${host} is a private or special address, which is not granted`),
          [],
        );
      if (options.all) return done(null, fit);
      done(null, fit[0]!.address, fit[0]!.family);
    });
  };
  return (input, init = {}) => new Promise((resolve, reject) => {
    const url = new URL(String(input));
    const request = (url.protocol === "https:" ? secure : plain)(
      url,
      {
        method: init.method ?? "GET",
        headers: init.headers as Record<string, string>,
        lookup: checked as never,
        signal: init.signal ?? undefined,
        agent: false,
      },
      (incoming) => {
        const headers = new Headers();
        for (let i = 0; i < incoming.rawHeaders.length; i += 2)
          headers.append(incoming.rawHeaders[i]!, incoming.rawHeaders[i + 1]!);
        const status = incoming.statusCode ?? 502;
        const bare = [101, 204, 205, 304].includes(status) || init.method === "HEAD";
        if (bare) incoming.resume();
        resolve(new Response(bare ? null : (Readable.toWeb(incoming) as ReadableStream), { status, headers }));
      },
    );
    request.on("error", reject);
    request.end(init.body ?? undefined);
  });
}
