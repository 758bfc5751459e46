// The schedules of a canvas: when it runs by itself.

import { useState } from "react";
import type { NewSchedule, Schedule } from "../../run/release.ts";
import type { Installed } from "../../run/admin.ts";
import { fieldsOf, SchemaFields, valuesOf } from "../area/schema.tsx";
import { useLook, useText } from "../context.tsx";
import { useAttempt, useLoaded } from "../loaded.ts";
import { Code, Fault, useDate, usePublishText, Waiting, type Section } from "./parts.tsx";

/** SchedulesSection lists schedules and adds one. */
export function SchedulesSection({ release, onSection }: Section): React.ReactNode {
  const t = usePublishText();
  const schedules = useLoaded("schedules", () => release.schedules());
  const published = useLoaded("published", async () => ({ at: (await release.stored()).published }));
  const triggers = useLoaded("triggers", () => release.triggers());
  const { busy, fault, run } = useAttempt();
  const act = (work: () => Promise<unknown>): void => void run(() => schedules.after(work));
  const list = schedules.value;
  if (!list || !published.value) return <Waiting {...(list ? published : schedules)} />;
  return (
    <>
      {list.length === 0 && <p className="quiet">{t("no_schedules")}</p>}
      <ul className="schedules">
        {list.map((each) => (
          <Row
            key={each.id}
            schedule={each}
            busy={busy}
            onPause={() => act(() => release.pause(each.id, !each.paused))}
            onRemove={() => act(() => release.unschedule(each.id))}
          />
        ))}
      </ul>
      <Fault text={fault} />
      {published.value.at ? (
        <Add triggers={triggers.value ?? []} onAdd={(given) => schedules.after(() => release.schedule(given))} />
      ) : (
        <p className="fault" role="alert">
          {t("publish_first")}{" "}
          <button type="button" onClick={() => onSection("release")}>
            {t("release")}
          </button>
        </p>
      )}
    </>
  );
}

function Row({
  schedule,
  busy,
  onPause,
  onRemove,
}: {
  schedule: Schedule;
  busy: boolean;
  onPause(): void;
  onRemove(): void;
}): React.ReactNode {
  const t = usePublishText();
  const say = useText();
  const date = useDate();
  const { name, every, cron, zone, plugin, hook, paused, next, last } = schedule;
  return (
    <li>
      <div>
        <b>{name}</b> {plugin && <span>{plugin}</span>}{" "}
        {!hook && <span className="quiet">{every ? `${t("every")} ${every}` : `${cron} ${zone ?? ""}`}</span>}
        {hook && <Code label={t("webhook_address")} text={location.origin + hook} />}
        {paused && <small>{t("paused")}</small>}
        {!paused && !hook && <small>{t("next", next.map(date).join(" · "))}</small>}
        {last && <small>{t("last", `${date(last.created)}, ${last.error ?? say(`status.${last.status}`)}`)}</small>}
      </div>
      <button
        type="button"
        disabled={busy}
        aria-label={t("schedule_named", t(paused ? "resume" : "pause"), name)}
        onClick={(event) => {
          // The second click of a double click would resume what the first paused.
          if (event.detail < 2) onPause();
        }}
      >
        {t(paused ? "resume" : "pause")}
      </button>
      <button
        type="button"
        className="danger"
        disabled={busy}
        aria-label={t("schedule_named", t("remove"), name)}
        onClick={onRemove}
      >
        {t("remove")}
      </button>
    </li>
  );
}

interface AddProps {
  triggers: Installed[];
  onAdd(given: NewSchedule): Promise<unknown>;
}

function Add({ triggers, onAdd }: AddProps): React.ReactNode {
  const t = usePublishText();
  const language = useLook((look) => look.language);
  const { busy, fault, run } = useAttempt();
  const [kind, setKind] = useState<"every" | "cron">("every");
  const [name, setName] = useState("");
  const [when, setWhen] = useState("24h");
  const [zone, setZone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [query, setQuery] = useState("");
  const [component, setComponent] = useState("");
  const plugin = triggers.find((each) => each.component === component);
  const fields = fieldsOf(plugin?.params);
  const add = (form: FormData): void =>
    void run(async () => {
      const params = Object.entries(valuesOf(fields, form)).filter(([, value]) => value !== null);
      await onAdd({
        name,
        query,
        ...(plugin?.trigger !== "webhook" && (kind === "every" ? { every: when } : { cron: when, zone })),
        ...(plugin && { plugin: component, params: Object.fromEntries(params) }),
      });
      setName("");
      setQuery("");
    });
  return (
    <form
      className="add-schedule"
      onSubmit={(event) => {
        event.preventDefault();
        add(new FormData(event.currentTarget));
      }}
    >
      <label className="field">
        {t("schedule_name")}
        <input type="text" required maxLength={100} value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      {triggers.length > 0 && (
        <label className="field">
          {t("begins")}
          <select value={component} onChange={(event) => setComponent(event.target.value)}>
            <option value="">{t("begins_time")}</option>
            {triggers.map((each) => (
              <option key={each.component} value={each.component}>
                {each.display?.[language] ?? each.name}
              </option>
            ))}
          </select>
          {plugin && <small className="quiet">{plugin.description}</small>}
        </label>
      )}
      <SchemaFields key={component} fields={fields} />
      {plugin?.trigger !== "webhook" && (
        <Times kind={kind} onKind={setKind} when={when} onWhen={setWhen} zone={zone} onZone={setZone} />
      )}
      <label className="field wide-field">
        {t("message")}
        <input type="text" value={query} onChange={(event) => setQuery(event.target.value)} />
      </label>
      <Fault text={fault} />
      <button type="submit" className="primary" disabled={busy}>
        {t("add_schedule")}
      </button>
    </form>
  );
}

function Times(props: {
  kind: "every" | "cron";
  onKind(kind: "every" | "cron"): void;
  when: string;
  onWhen(when: string): void;
  zone: string;
  onZone(zone: string): void;
}): React.ReactNode {
  const t = usePublishText();
  const { kind, when, zone } = props;
  return (
    <>
      <label className="field">
        {t("when")}
        <select
          value={kind}
          onChange={(event) => {
            props.onKind(event.target.value as typeof kind);
            props.onWhen(event.target.value === "every" ? "24h" : "0 8 * * mon-fri");
          }}
        >
          <option value="every">{t("every")}</option>
          <option value="cron">{t("cron")}</option>
        </select>
      </label>
      <label className="field">
        {t(kind === "every" ? "period" : "cron_line")}
        <input type="text" required value={when} onChange={(event) => props.onWhen(event.target.value)} />
      </label>
      {kind === "cron" && (
        <label className="field">
          {t("zone")}
          <input type="text" required value={zone} onChange={(event) => props.onZone(event.target.value)} />
        </label>
      )}
    </>
  );
}
