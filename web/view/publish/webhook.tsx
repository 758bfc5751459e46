// The webhook of a canvas: its address, a test call with the events of the run that it starts, and
// the latest call.

import { useEffect, useRef, useState } from "react";
import type { Dsl } from "../../canvas/dsl.ts";
import { proofOf, proofs } from "../../canvas/hook-security.ts";
import { hookCurl } from "../../run/hook-curl.ts";
import { lastCall, listen, testCall, type HookAnswer, type TestEvent } from "../../run/webhook.ts";
import { useApp, useStore, useText } from "../context.tsx";
import { usePresets } from "../form/hook-security.tsx";
import { useLoaded } from "../loaded.ts";
import { reasonOf } from "../reason.tsx";
import { brief } from "../text.ts";
import { Code, Fault, useDate, usePublishText, type Section } from "./parts.tsx";

/** WebhookSection sends a test call and listens. */
export function WebhookSection({ release }: Section): React.ReactNode {
  const t = usePublishText();
  const { session } = useApp();
  const dsl = useStore(session.document, (document) => document?.dsl);
  const hook = webhookOf(dsl);
  if (!hook) return <p className="quiet">{t("webhook_none")}</p>;
  return (
    <>
      <p>{t("webhook_hint")}</p>
      <Code label={t("webhook_address")} text={addressOf(release.id)} />
      {session.edited && <p className="quiet">{t("webhook_unsaved")}</p>}
      <TestCall key={release.id} canvas={release.id} hook={hook} />
      <LastCall canvas={release.id} />
    </>
  );
}

function addressOf(canvas: string): string {
  return `${location.origin}/api/v1/agents/${canvas}/webhook`;
}

interface Sent {
  method: string;
  type: string;
  body: string;
}

// TestCall sends a request as its sender would, and shows it with its answer and the run.
function TestCall({ canvas, hook }: { canvas: string; hook: Hook }): React.ReactNode {
  const t = usePublishText();
  const { host } = useApp();
  const presets = usePresets(hook.security);
  const proof = proofOf(hook.security);
  const provable = Object.hasOwn(proofs, proof);
  const sender = presets?.items.find(({ name }) => name === presets.names[0])?.title;
  const [method, setMethod] = useState(hook.methods.includes("POST") ? "POST" : (hook.methods[0] ?? "POST"));
  const [body, setBody] = useState("{}");
  const [sign, setSign] = useState(true);
  const [sent, setSent] = useState<Sent>();
  const [response, setResponse] = useState<HookAnswer>();
  const [events, setEvents] = useState<TestEvent[]>();
  const [fault, setFault] = useState<string>();
  const [sending, setSending] = useState(false); // until the host answers: each call has effects
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const bare = method === "GET";
  const send = async (): Promise<void> => {
    stop.current.abort();
    const { signal } = (stop.current = new AbortController());
    setSent({ method, type: bare ? "" : hook.type, body: bare ? "" : body });
    setEvents([]);
    setResponse(undefined);
    setFault(undefined);
    setSending(true);
    try {
      const run = await listen(host, canvas, signal);
      const request = { method, body: bare ? undefined : body, type: hook.type, sign: sign && provable };
      const answer = await testCall(host, canvas, request);
      setSending(false);
      if (!signal.aborted) setResponse(answer);
      for await (const event of run(answer.status < 400)) setEvents((before = []) => [...before, event]);
    } catch (err) {
      setSending(false);
      if (!signal.aborted) setFault(reasonOf(err));
    }
  };
  const valid = bare || hook.type !== "application/json" || isJSON(body);
  const call = { address: addressOf(canvas), method, type: hook.type, body: bare ? "" : body, security: hook.security };
  return (
    <>
      <form
        className="add-schedule"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <label className="field">
          {t("method")}
          <select value={method} onChange={(event) => setMethod(event.target.value)}>
            {hook.methods.map((each) => <option key={each}>{each}</option>)}
          </select>
        </label>
        {provable && (
          <label className="field row">
            <input type="checkbox" checked={sign} onChange={(event) => setSign(event.target.checked)} />
            {sender ? t("sign_as", sender) : t("sign")}
          </label>
        )}
        {!bare && <Body type={hook.type} valid={valid} body={body} onChange={setBody} />}
        <button type="submit" className="primary" disabled={!valid || sending}>
          {t("listen")}
        </button>
      </form>
      <details className="signing">
        <summary>{t("curl")}</summary>
        <Code label={t(provable ? "curl_secret" : "curl")} text={hookCurl(call)} />
      </details>
      <Fault text={fault} />
      {sent && response && <Code label={t("request")} text={requestText(sent, response.signed, t("signed_value"))} />}
      {response && <Code label={t("response", response.status)} text={response.text || "–"} />}
      {events && (response === undefined || response.status < 400) && fault === undefined && <Events events={events} />}
    </>
  );
}

function Body({ type, valid, body, onChange }: {
  type: string;
  valid: boolean;
  body: string;
  onChange(body: string): void;
}): React.ReactNode {
  const t = usePublishText();
  return (
    <>
      <label className="field wide-field">
        {type === "application/json" ? t("body") : t("body_of", type)}
        <textarea
          rows={4} spellCheck={false} className="mono" value={body} aria-invalid={!valid}
          onChange={(event) => onChange(event.target.value)}
        />
      </label>
      {!valid && <p className="fault" role="alert">{t("body_invalid")}</p>}
    </>
  );
}

function Events({ events }: { events: TestEvent[] }): React.ReactNode {
  const t = usePublishText();
  const end = events.at(-1);
  return (
    <>
      <h3>{t("events")}</h3>
      <ol className="hook-events" aria-live="polite">
        {events
          .filter(({ event }) => event !== "finished")
          .map((event, i) => (
            <li key={i}>
              <b>{event.event}</b>{" "}
              <span className="quiet">
                {brief(event.data?.component_name ?? event.data?.content ?? event.message ?? "", 120)}
              </span>
            </li>
          ))}
      </ol>
      <p role="status" className={end?.event === "finished" ? (end.success ? "good" : "fault") : "quiet"}>
        {end?.event !== "finished" ? t("listening") : t(end.success ? "run_ok" : "run_failed")}
      </p>
    </>
  );
}

// LastCall shows the latest request that started a run, test calls included.
function LastCall({ canvas }: { canvas: string }): React.ReactNode {
  const t = usePublishText();
  const { host } = useApp();
  const date = useDate();
  const status = useText();
  const { value, fault, busy, reload } = useLoaded(canvas, () => lastCall(host, canvas));
  return (
    <section className="last-call" aria-label={t("last_call")}>
      <h3>
        {t("last_call")}{" "}
        <button type="button" disabled={busy} onClick={() => void reload()}>{t("last_reload")}</button>
      </h3>
      <Fault text={fault} />
      {!busy && !value && fault === undefined && <p className="quiet">{t("last_none")}</p>}
      {value && (
        <>
          <p>{t("last_status", date(value.run.created), status(`status.${value.run.status}` as "status.failed"))}</p>
          <Fault text={value.run.error || undefined} />
          {value.request !== undefined && (
            <Code label={t("request")} text={JSON.stringify(value.request, null, 2)} />
          )}
          {value.answer !== "" && <Code label={t("last_answer")} text={value.answer} />}
        </>
      )}
    </section>
  );
}

// requestText shows a test call as it went out. Values of the headers that the host added are not
// known to the page.
function requestText({ method, type, body }: Sent, signed: readonly string[], hidden: string): string {
  const headers = [...(type ? [`Content-Type: ${type}`] : []), ...signed.map((name) => `${name}: ${hidden}`)];
  return [`${method} /webhook`, ...headers, ...(body ? ["", body] : [])].join("\n");
}

interface Hook {
  methods: string[];
  /** Type of the body that it takes. */
  type: string;
  security: unknown;
}

// webhookOf returns the settings of the webhook that starts a canvas; undefined for none.
function webhookOf(dsl: Dsl | undefined): Hook | undefined {
  const params = Object.values(dsl?.components ?? {}).find(({ obj }) => obj.params["mode"] === "Webhook")?.obj.params;
  if (!params) return undefined;
  const texts = (value: unknown): string[] =>
    (Array.isArray(value) ? value : [value]).filter((each): each is string => typeof each === "string" && each !== "");
  const methods = texts(params["methods"]);
  const [type = "application/json"] = texts(params["content_types"]);
  return {
    methods: methods.length > 0 ? methods : ["POST", "GET", "PUT", "PATCH", "DELETE"],
    type, security: params["security"],
  };
}

function isJSON(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
