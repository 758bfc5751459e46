// The webhook of a canvas: its address, and a test call with the events of the run that it starts.

import { useEffect, useRef, useState } from "react";
import type { Dsl } from "../../canvas/dsl.ts";
import { listen, testCall, type TestEvent } from "../../run/webhook.ts";
import { useApp, useStore } from "../context.tsx";
import { brief } from "../text.ts";
import { Code, Fault, usePublishText, type Section } from "./parts.tsx";
import { reasonOf } from "../reason.tsx";

/** WebhookSection sends a test call and listens. */
export function WebhookSection({ release }: Section): React.ReactNode {
  const t = usePublishText();
  const { session, host } = useApp();
  const dsl = useStore(session.document, (document) => document?.dsl);
  const methods = webhookOf(dsl);
  const [method, setMethod] = useState(methods?.[0] ?? "POST");
  const [body, setBody] = useState("{}");
  const [response, setResponse] = useState<{ status: number; text: string }>();
  const [events, setEvents] = useState<TestEvent[]>();
  const [fault, setFault] = useState<string>();
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  if (!methods) return <p className="quiet">{t("webhook_none")}</p>;
  const send = async (): Promise<void> => {
    stop.current.abort();
    const { signal } = (stop.current = new AbortController());
    setEvents([]);
    setResponse(undefined);
    setFault(undefined);
    try {
      const run = await listen(host, release.id, signal);
      const sent = testCall(host, release.id, method, method === "GET" ? undefined : body);
      void sent.then((answer) => {
        if (!signal.aborted) setResponse(answer);
      });
      for await (const event of run((await sent).status < 400)) setEvents((before = []) => [...before, event]);
    } catch (err) {
      if (!signal.aborted) setFault(reasonOf(err));
    }
  };
  const valid = isJSON(body) || method === "GET";
  const end = events?.at(-1);
  return (
    <>
      <p>{t("webhook_hint")}</p>
      <Code label={t("webhook_address")} text={`${location.origin}/api/v1/agents/${release.id}/webhook`} />
      {session.edited && <p className="quiet">{t("webhook_unsaved")}</p>}
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
            {methods.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        {method !== "GET" && (
          <label className="field wide-field">
            {t("body")}
            <textarea
              rows={4}
              spellCheck={false}
              className="mono"
              value={body}
              aria-invalid={!valid}
              onChange={(event) => setBody(event.target.value)}
            />
          </label>
        )}
        {!valid && (
          <p className="fault" role="alert">
            {t("body_invalid")}
          </p>
        )}
        <button type="submit" className="primary" disabled={!valid}>
          {t("listen")}
        </button>
      </form>
      <Fault text={fault} />
      {response && <Code label={t("response", response.status)} text={response.text || "–"} />}
      {events && (response === undefined || response.status < 400) && fault === undefined && (
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
      )}
    </>
  );
}

// webhookOf lists the methods by which a canvas starts; undefined when no webhook starts it.
function webhookOf(dsl: Dsl | undefined): string[] | undefined {
  const params = Object.values(dsl?.components ?? {}).find(({ obj }) => obj.params["mode"] === "Webhook")?.obj.params;
  if (!params) return undefined;
  const listed = Array.isArray(params["methods"]) ? params["methods"].filter((each) => typeof each === "string") : [];
  return listed.length > 0 ? listed : ["POST", "GET", "PUT", "PATCH", "DELETE"];
}

function isJSON(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
