// The security section of a webhook: how its sender proves itself, and limits. The section of a
// known sender is a preset of the host.

import { isObject, word, type Params } from "./dsl.ts";

/** Preset is a known sender with its kind of proof. */
export interface Preset {
  name: string;
  title: string;
  /** The security section without the key. */
  security: Params;
  /** Path of the key in the section, such as hmac.secret. */
  key: string;
}

/** proofs are the kinds of proof, with the member of the section that holds the key. */
export const proofs = {
  token: ["token", "token_value"], basic: ["basic_auth", "password"], jwt: ["jwt", "secret"], hmac: ["hmac", "secret"],
} as const;

/** Proof is a kind of proof. */
export type Proof = keyof typeof proofs;

/** proofOf returns the kind of proof of a section; "none" is open, "" is undecided. */
export function proofOf(security: unknown): Proof | "none" | "" | "unknown" {
  if (!isObject(security) || Object.keys(security).length === 0) return "";
  const kind = security["auth_type"];
  if (kind === undefined || kind === "" || kind === "none") return security["allow_anonymous"] === true ? "none" : "";
  return typeof kind === "string" && Object.hasOwn(proofs, kind) ? (kind as Proof) : "unknown";
}

const sections = ["auth_type", "allow_anonymous", ...Object.values(proofs).map(([section]) => section)];

// limitsOf returns what a section holds besides the proof.
function limitsOf(security: unknown): Params {
  if (!isObject(security)) return {};
  return Object.fromEntries(Object.entries(security).filter(([name]) => !sections.includes(name)));
}

/** withProof returns a section with another kind of proof and no key; the limits stay. */
export function withProof(security: unknown, chosen: Proof | "none" | "" | Preset): Params {
  const limits = limitsOf(security);
  if (typeof chosen === "object") return { ...structuredClone(chosen.security), ...limits };
  if (chosen === "") return limits;
  if (chosen === "none") return { auth_type: "none", allow_anonymous: true, ...limits };
  const start = { token: { token_header: "X-Token" }, basic: { username: "" }, jwt: { algorithm: "HS256" }, hmac: {} };
  return { auth_type: chosen, [proofs[chosen][0]]: start[chosen], ...limits };
}

/** partOf returns the member of a section that holds the settings of its proof. */
export function partOf(security: unknown): Params {
  const kind = proofOf(security);
  if (!isObject(security) || !Object.hasOwn(proofs, kind)) return {};
  const part = security[proofs[kind as Proof][0]];
  return isObject(part) ? part : {};
}

/** withPart returns a section with changed settings of its proof; undefined removes one. */
export function withPart(security: unknown, changes: Params): Params {
  const kind = proofOf(security) as Proof;
  const part = Object.fromEntries(
    Object.entries({ ...partOf(security), ...changes }).filter(([, value]) => value !== undefined),
  );
  return { ...(isObject(security) ? security : {}), [proofs[kind][0]]: part };
}

/** keyOf returns the key of a section: the text of a secret, or of its placeholder. */
export function keyOf(security: unknown): string {
  const kind = proofOf(security);
  return Object.hasOwn(proofs, kind) ? word(partOf(security)[proofs[kind as Proof][1]] ?? "") : "";
}

/** withKey returns a section with another key. */
export function withKey(security: unknown, key: string): Params {
  const kind = proofOf(security) as Proof;
  return withPart(security, { [proofs[kind][1]]: key === "" ? undefined : key });
}

/** newKey returns a random key in the form that a section requires. */
export function newKey(security: unknown): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  if (partOf(security)["secret_encoding"] === "base64") return `whsec_${btoa(String.fromCharCode(...bytes))}`;
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** freeName returns the name of a new secret for a canvas that no other secret has. */
export function freeName(title: string, taken: readonly string[]): string {
  const word = title.toUpperCase().replace(/[^A-Z0-9]+/g, "_").replace(/^_+|_+$/g, "").slice(0, 40);
  return numbered(word ? `WEBHOOK_${word}` : "WEBHOOK", taken);
}

/** numbered returns a name, with a number if it is taken. */
export function numbered(name: string, taken: readonly string[]): string {
  for (let number = 1, made = name; ; made = `${name}_${++number}`) if (!taken.includes(made)) return made;
}

/** linesOf returns the entries of a text or list, for fields with one entry a line. */
export function linesOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(word).join("\n");
  return typeof value === "string" ? value : "";
}

/** entriesOf returns the entries of lines; undefined for none. */
export function entriesOf(text: string): string[] | undefined {
  const list = text.split(/[\n,]/).map((line) => line.trim()).filter(Boolean);
  return list.length > 0 ? list : undefined;
}
