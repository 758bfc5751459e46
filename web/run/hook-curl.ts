// A request to a webhook as lines for a shell, with the proof that its canvas requires. They read
// the key from the variable SECRET.

import type { Params } from "../canvas/dsl.ts";
import { partOf, proofOf } from "../canvas/hook-security.ts";

/** HookCall is a request to a webhook. */
export interface HookCall {
  address: string;
  method: string;
  /** Type of the body; "" for none. */
  type: string;
  body: string;
  /** Security section of the canvas. */
  security: unknown;
}

// quoted returns a text as a quoted word for a shell.
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

// bare returns a text as a word for a shell, quoted only if necessary.
function bare(text: string): string {
  return /^[\w-]+$/.test(text) ? text : quoted(text);
}

/** hookCurl returns the lines. */
export function hookCurl({ address, method, type, body, security }: HookCall): string {
  const part = partOf(security);
  const before: string[] = [];
  const headers: string[] = type && body ? [quoted(`Content-Type: ${type}`)] : [];
  let user = "";
  switch (proofOf(security)) {
    case "token":
      headers.push(`"${word(part["token_header"])}: $SECRET"`);
      break;
    case "basic":
      user = `${quoted(`${word(part["username"])}:`)}"$SECRET"`;
      break;
    case "jwt":
      headers.push(`"Authorization: Bearer $TOKEN"`);
      break;
    case "hmac":
      before.push(...signatureLines(part, body));
      headers.push(...signatureHeaders(part));
      break;
    default:
  }
  const lines = [
    `curl -X ${bare(method)} ${quoted(address)}`,
    ...(user ? [`-u ${user}`] : []),
    ...headers.map((header) => `-H ${header}`),
    ...(body ? [`--data-raw ${quoted(body)}`] : []),
  ];
  return [...before, lines.join(" \\\n  ")].join("\n");
}

function word(value: unknown): string {
  return typeof value === "string" ? value.replaceAll(/["$`\\]/g, "\\$&") : "";
}

// settingsOf returns the settings of a signature with the defaults of the host.
function settingsOf(part: Params): {
  header: string; algorithm: string; prefix: string; encoding: string; clock: string; mark: string; payload: string;
} {
  const text = (name: string, usual: string): string => (typeof part[name] === "string" ? part[name] : usual);
  const algorithm = text("algorithm", "sha256").toLowerCase();
  const clock = text("timestamp_header", "");
  const mark = text("timestamp_prefix", "");
  return {
    algorithm, clock, mark, header: text("header", "X-Hub-Signature-256"), prefix: text("prefix", `${algorithm}=`),
    encoding: text("encoding", "hex").toLowerCase(),
    payload: text("payload", "") || (clock || mark ? "{timestamp}.{body}" : "{body}"),
  };
}

const holders = /\{(body|timestamp|header:[\w-]+)\}/g;

// signatureLines sets SIGNATURE, and AT and ID where they are signed.
function signatureLines(part: Params, body: string): string[] {
  const { algorithm, encoding, payload } = settingsOf(part);
  const lines: string[] = [];
  if (/\{timestamp\}/.test(payload)) lines.push("AT=$(date +%s)");
  if (/\{header:/.test(payload)) lines.push("ID=msg_$(date +%s%N)");
  const format = payload.replaceAll("%", "%%").replaceAll(holders, "%s");
  const values = [...payload.matchAll(holders)].map(([, holder = ""]) =>
    holder === "body" ? quoted(body) : holder === "timestamp" ? `"$AT"` : `"$ID"`);
  const based = part["secret_encoding"] === "base64";
  if (based) lines.push(`KEY=$(printf %s "\${SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')`);
  const key = based ? `-mac HMAC -macopt "hexkey:$KEY"` : `-hmac "$SECRET"`;
  const digest = `openssl dgst ${bare(`-${algorithm}`)} ${key} -binary`;
  const encode = encoding === "base64" ? "openssl base64 -A" : "od -An -v -tx1 | tr -d ' \\n'";
  lines.push(`SIGNATURE=$(printf ${quoted(format)} ${values.join(" ")} | ${digest} | ${encode})`);
  return lines;
}

function signatureHeaders(part: Params): string[] {
  const { header, prefix, clock, mark, payload } = settingsOf(part);
  const signed = [...payload.matchAll(/\{header:([\w-]+)\}/g)].map(([, name = ""]) => `"${name}: $ID"`);
  const time = mark ? `${word(mark)}$AT,` : "";
  return [
    ...signed, ...(clock ? [`"${word(clock)}: $AT"`] : []), `"${word(header)}: ${time}${word(prefix)}$SIGNATURE"`,
  ];
}
