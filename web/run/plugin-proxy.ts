// Requests of plugins that came from the host: sent by the host, which has the secrets of the
// tenant and checks them against its own grant too.

import type { PluginProxy } from "@easel/engine";
import type { Host } from "./host.ts";

/** AskHost makes a request to the host's API, as Host.ask does. */
export type AskHost = Host["ask"];

interface Relayed {
  status: number;
  headers: Record<string, string>;
  body_base64: string;
}

const bodiless = [204, 205, 304];

/** pluginProxy returns a proxy that sends requests by the host. */
export function pluginProxy(ask: AskHost): PluginProxy {
  return async ({ plugin, version, method, url, headers, body, secretMark }, { signal }) => {
    const path = `/api/v2/plugins/${encodeURIComponent(`${plugin}@${version}`)}/fetch`;
    const request = {
      method, url, headers,
      ...(body && { body_base64: toBase64(body) }),
      ...(secretMark !== undefined && { secret_mark: secretMark }),
    };
    const answer = (await (await ask("POST", path, request, { signal })).json()) as Relayed;
    const content = bodiless.includes(answer.status) ? null : fromBase64(answer.body_base64);
    return new Response(content, { status: answer.status, headers: answer.headers });
  };
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
