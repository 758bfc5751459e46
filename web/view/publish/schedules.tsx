// The schedules of a canvas: when it runs by itself.

import { useState } from "react";
import type { NewSchedule, Schedule } from "../../run/release.ts";
import { useText } from "../context.tsx";
import { useAttempt, useLoaded } from "../loaded.ts";
import { Fault, useDate, usePublishText, Waiting, type Section } from "./parts.tsx";

/** SchedulesSection lists schedules and adds one. */
export function SchedulesSection({ release, onSection }: Section): React.ReactNode {
  const t = usePublishText();
  const schedules = useLoaded("schedules", () => release.schedules());
  const published = useLoaded("published", async () => ({ at: await release.published() }));
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
        <Add onAdd={(given) => schedules.after(() => release.schedule(given))} />
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
  const { name, every, cron, zone, paused, next, last } = schedule;
  return (
    <li>
      <div>
        <b>{name}</b> <span className="quiet">{every ? `${t("every")} ${every}` : `${cron} ${zone ?? ""}`}</span>
        <small>{paused ? t("paused") : t("next", next.map(date).join(" · "))}</small>
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

function Add({ onAdd }: { onAdd(given: NewSchedule): Promise<unknown> }): React.ReactNode {
  const t = usePublishText();
  const { busy, fault, run } = useAttempt();
  const [kind, setKind] = useState<"every" | "cron">("every");
  const [name, setName] = useState("");
  const [when, setWhen] = useState("24h");
  const [zone, setZone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [query, setQuery] = useState("");
  const add = (): void =>
    void run(async () => {
      await onAdd({ name, query, ...(kind === "every" ? { every: when } : { cron: when, zone }) });
      setName("");
      setQuery("");
    });
  return (
    <form
      className="add-schedule"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <label className="field">
        {t("schedule_name")}
        <input type="text" required maxLength={100} value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <label className="field">
        {t("when")}
        <select
          value={kind}
          onChange={(event) => {
            setKind(event.target.value as typeof kind);
            setWhen(event.target.value === "every" ? "24h" : "0 8 * * mon-fri");
          }}
        >
          <option value="every">{t("every")}</option>
          <option value="cron">{t("cron")}</option>
        </select>
      </label>
      <label className="field">
        {t(kind === "every" ? "period" : "cron_line")}
        <input type="text" required value={when} onChange={(event) => setWhen(event.target.value)} />
      </label>
      {kind === "cron" && (
        <label className="field">
          {t("zone")}
          <input type="text" required value={zone} onChange={(event) => setZone(event.target.value)} />
        </label>
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
