// The senders that may start a canvas by a web request. A preset of the host writes everything but
// the key, which is stored as a secret of the host.

import { useId, useState } from "react";
import { isObject, word, type Params } from "../../canvas/dsl.ts";
import {
  entriesOf, freeName, keyOf, linesOf, newKey, partOf, proofOf, proofs, withKey, withPart, withProof,
  type Preset, type Proof,
} from "../../canvas/hook-security.ts";
import { pick } from "../../words/words.ts";
import { useApp, useLook, useStore } from "../context.tsx";
import { useAttempt, useLoaded } from "../loaded.ts";
import {
  Copied, Fault, placeholderOf, SecretField, SignIn, useConnectText, useSecrets, useMayAsk,
} from "./connect-parts.tsx";
import type { ControlProps } from "./props.ts";

interface Presets {
  items: Preset[];
  /** Presets with the settings of the section. */
  names: string[];
}

/** usePresets returns the presets of the host, and those that a section matches. */
export function usePresets(security: unknown): Presets | undefined {
  const { host } = useApp();
  const mayAsk = useMayAsk();
  // The key is not part of what is recognised, and is not sent.
  const proof = JSON.stringify(isObject(security) ? withoutKey(security) : {});
  const { value } = useLoaded(`${mayAsk} ${proof}`, async (): Promise<Presets> =>
    mayAsk
      ? host.request("POST", "/api/v2/hook-presets", { security: JSON.parse(proof) as unknown })
      : { items: [], names: [] });
  return value;
}

function withoutKey(security: Params): Params {
  return proofOf(security) in proofs ? withKey(security, "") : security;
}

const algorithms = [
  "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
];

/** HookSecurity edits the security section. */
export function HookSecurity({ id, value, onChange }: ControlProps): React.ReactNode {
  const c = useConnectText();
  const presets = usePresets(value);
  const [preferred, setPreferred] = useState("");
  const kind = proofOf(value);
  const names = presets?.names ?? [];
  // Two senders may sign alike; the chosen one is shown.
  const named = names.includes(preferred) ? preferred : names[0];
  const preset = presets?.items.find(({ name }) => name === named);
  const now = preset ? `preset ${preset.name}` : kind;
  const choose = (text: string): void => {
    const chosen = presets?.items.find(({ name }) => text === `preset ${name}`);
    setPreferred(chosen?.name ?? "");
    const next = withProof(value, chosen ?? (text as Proof | "none" | ""));
    // A sender that signs like the one before keeps its key.
    onChange(chosen && preset && names.includes(chosen.name) ? withKey(next, keyOf(value)) : next);
  };
  return (
    <div className="rows">
      <select id={id} value={now} onChange={(event) => choose(event.target.value)}>
        <option value="">{c("hook_undecided")}</option>
        {presets && presets.items.length > 0 && (
          <optgroup label={c("hook_senders")}>
            {presets.items.map(({ name, title }) => <option key={name} value={`preset ${name}`}>{title}</option>)}
          </optgroup>
        )}
        <optgroup label={c("hook_own")}>
          {(["token", "basic", "jwt", "hmac", "none"] as const).map((each) => (
            <option key={each} value={each}>{c(`proof_${each}`)}</option>
          ))}
          {kind === "unknown" && <option value="unknown">{c("hook_unknown")}</option>}
        </optgroup>
      </select>
      {kind === "" && <p className="small wait-text">{c("hook_undecided_hint")}</p>}
      {kind === "none" && <p className="small fault">{c("hook_open")}</p>}
      {kind === "unknown" && <p className="small missing" role="alert">{c("hook_unknown")}</p>}
      {kind !== "" && kind !== "none" && kind !== "unknown" && (
        <>
          {!preset && <Own kind={kind} value={value} onChange={onChange} />}
          <Key preset={preset} value={value} onChange={onChange} />
        </>
      )}
      <SignIn />
      <Limits value={value} onChange={onChange} />
    </div>
  );
}

type Part = Pick<ControlProps, "value" | "onChange">;

// Key edits the key of a section, or makes one, which is shown once.
function Key({ preset, value, onChange }: { preset: Preset | undefined } & Part): React.ReactNode {
  const c = useConnectText();
  const language = useLook((look) => look.language);
  const title = useStore(useApp().session.document, (document) => pick(document?.opened.title ?? "", language));
  const { secrets, put } = useSecrets();
  const attempt = useAttempt();
  const [shown, setShown] = useState<string>();
  const kind = proofOf(value) as Proof;
  const algorithm = word(partOf(value)["algorithm"] ?? "");
  const publicKey = kind === "jwt" && /^(rs|ps|es|ed)/i.test(algorithm);
  const label = kind === "basic" ? c("hook_password") : c("hook_secret");
  const generate = (): Promise<boolean> => attempt.run(async () => {
    const key = newKey(value);
    const name = freeName(title, secrets?.map((each) => each.name) ?? []);
    if (secrets) await put(name, key);
    onChange(withKey(value, secrets ? placeholderOf(name) : key));
    setShown(key);
  });
  if (publicKey) {
    return (
      <label className="member">
        {c("hook_public_key")}
        <textarea
          className="mono" rows={4} spellCheck={false} value={keyOf(value)} placeholder="-----BEGIN PUBLIC KEY-----"
          onChange={(event) => onChange(withKey(value, event.target.value))}
        />
      </label>
    );
  }
  return (
    <div className="rows" role="group" aria-label={label}>
      <div className="member">
        <span>{label}</span>
        <SecretField
          label={label} hidden value={keyOf(value)}
          propose={freeName(title, secrets?.map(({ name }) => name) ?? [])}
          onChange={(key) => {
            setShown(undefined);
            onChange(withKey(value, key));
          }}
        />
      </div>
      {preset && keyOf(value) === "" && <small>{c("hook_secret_hint", preset.title)}</small>}
      {shown === undefined ? (
        <button type="button" className="add" disabled={attempt.busy} onClick={() => void generate()}>
          {c("hook_generate")}
        </button>
      ) : (
        <div className="inset" role="status">
          <p className="small">
            {c(secrets ? "hook_shown_once" : "hook_in_canvas", preset?.title ?? c("hook_sender"))}
          </p>
          <Copied label={label} text={shown} />
        </div>
      )}
      <Fault text={attempt.fault} />
    </div>
  );
}

// Own edits what a preset would write.
function Own({ kind, value, onChange }: { kind: Proof } & Part): React.ReactNode {
  const c = useConnectText();
  const part = partOf(value);
  const set = (changes: Params): void => onChange(withPart(value, changes));
  const line = (name: string, label: string, placeholder = ""): React.ReactNode => (
    <label className="member">
      {label}
      <input
        type="text" autoComplete="off" spellCheck={false} placeholder={placeholder} value={linesOf(part[name])}
        onChange={(event) => set({ [name]: event.target.value === "" ? undefined : event.target.value })}
      />
    </label>
  );
  const list = (name: string, label: string): React.ReactNode => (
    <label className="member">
      {label}
      <input
        key={linesOf(part[name])} type="text" autoComplete="off" spellCheck={false}
        defaultValue={linesOf(part[name]).replaceAll("\n", ", ")}
        onBlur={(event) => {
          const entries = entriesOf(event.target.value);
          const same = linesOf(part[name]) === (entries ?? []).join("\n");
          if (!same) set({ [name]: entries?.length === 1 ? entries[0] : entries });
        }}
      />
    </label>
  );
  const choice = (name: string, label: string, options: string[], usual: string): React.ReactNode => {
    const now = word(part[name] ?? usual);
    return (
      <label className="member">
        {label}
        <select value={now} onChange={(event) => set({ [name]: event.target.value })}>
          {[...new Set([...options, now])].map((each) => <option key={each}>{each}</option>)}
        </select>
      </label>
    );
  };
  if (kind === "token") return line("token_header", c("hook_header"), "X-Token");
  if (kind === "basic") return line("username", c("hook_user"));
  if (kind === "jwt") {
    return (
      <>
        {choice("algorithm", c("hook_algorithm"), algorithms, "HS256")}
        {line("issuer", c("hook_issuer"))}
        {list("audience", c("hook_audience"))}
        {list("required_claims", c("hook_claims"))}
      </>
    );
  }
  return (
    <>
      {line("header", c("hook_header"), "X-Hub-Signature-256")}
      {line("prefix", c("hook_prefix"), "sha256=")}
      {choice("algorithm", c("hook_algorithm"), ["sha256", "sha512", "sha1"], "sha256")}
      {choice("encoding", c("hook_encoding"), ["hex", "base64"], "hex")}
      {line("payload", c("hook_payload"), "{body}")}
      {line("timestamp_header", c("hook_timestamp"))}
    </>
  );
}

const periods = ["second", "minute", "hour", "day"] as const;

// Limits bound what senders may send.
function Limits({ value, onChange }: Part): React.ReactNode {
  const c = useConnectText();
  const id = useId();
  const security: Params = isObject(value) ? value : {};
  const rate: Params = isObject(security["rate_limit"]) ? security["rate_limit"] : {};
  const size = word(security["max_body_size"] ?? "");
  const set = (name: string, next: unknown): void => {
    const { [name]: _old, ...rest } = security;
    onChange(next === undefined ? rest : { ...rest, [name]: next });
  };
  return (
    <details className="more">
      <summary>{c("hook_limits")}</summary>
      <div className="member">
        <label htmlFor={`${id}-rate`}>{c("hook_rate")}</label>
        <div className="stepper">
          <input
            id={`${id}-rate`} type="number" min={1} placeholder="60" value={word(rate["limit"] ?? "")}
            onChange={(event) => {
              const limit = Number(event.target.value);
              set("rate_limit", limit > 0 ? { per: "minute", ...rate, limit } : undefined);
            }}
          />
          <select
            aria-label={c("hook_per")} value={word(rate["per"] ?? "minute")}
            onChange={(event) => set("rate_limit", { limit: 60, ...rate, per: event.target.value })}
          >
            {periods.map((period) => <option key={period} value={period}>{c(`per_${period}`)}</option>)}
          </select>
        </div>
      </div>
      <label className="member">
        {c("hook_addresses")}
        <textarea
          key={linesOf(security["ip_whitelist"])} rows={2} className="mono" spellCheck={false}
          placeholder="192.0.2.0/24"
          defaultValue={linesOf(security["ip_whitelist"])}
          onBlur={(event) => {
            const entries = entriesOf(event.target.value);
            if (linesOf(security["ip_whitelist"]) !== (entries ?? []).join("\n")) set("ip_whitelist", entries);
          }}
        />
      </label>
      <label className="member">
        {c("hook_size")}
        <select
          value={size}
          onChange={(event) => set("max_body_size", event.target.value === "" ? undefined : event.target.value)}
        >
          {[...new Set(["", "1MB", "5MB", "10MB", size])].map((each) => (
            <option key={each} value={each}>{each || c("hook_size_usual")}</option>
          ))}
        </select>
      </label>
    </details>
  );
}
