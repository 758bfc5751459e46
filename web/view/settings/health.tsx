// Whether the host works, in words.

import type { Health } from "../../run/admin.ts";
import type { SettingsKey } from "../../words/settings.ts";
import { texts } from "../../words/settings.ts";
import { useLoaded } from "../area/parts.tsx";
import { Icon } from "../icons.tsx";
import { sizeText } from "../text.ts";
import { Row, useAdmin, useFormats, useSettingsText, Waiting } from "./parts.tsx";

/** HealthSection shows the parts of the host. */
export function HealthSection(): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const { time, count } = useFormats();
  const loaded = useLoaded("health", () => admin.get<Health>("/health"));
  const { value } = loaded;
  // A newer host may name parts that this page has no words for.
  const named = (kind: "part" | "memory", name: string): string => {
    const key = `${kind}_${name}`;
    return key in texts.en ? s(key as SettingsKey) : name;
  };
  if (!value) return <Waiting loaded={loaded} />;
  return (
    <>
      <div className="tools">
        <p className={value.ok ? "verdict good" : "verdict bad"} role="status">
          <Icon name={value.ok ? "check" : "cross"} />
          {s(value.ok ? "health_ok" : "health_bad")}
        </p>
        <span className="grow" />
        <button type="button" disabled={loaded.busy} onClick={loaded.reload}>
          <Icon name="loop" />
          {s("health_again")}
        </button>
      </div>
      <p className="facts">
        {[
          value.version && s("health_version", value.version),
          value.started && s("health_since", time(value.started)),
          s("health_runs", count(value.runs)),
        ]
          .filter(Boolean)
          .join(" · ")}
      </p>
      <ul className="entries settings-list" aria-label={s("health")}>
        {value.parts.map(({ name, ok, detail }) => (
          <Row
            key={name}
            title={named("part", name)}
            badge={s(ok ? "part_ok" : "part_bad")}
            tone={ok ? "good" : "bad"}
            facts={[detail]}
          />
        ))}
      </ul>
      {value.memory.length > 0 && (
        <section className="settings-part">
          <h2>{s("memory")}</h2>
          <ul className="meters">
            {value.memory.map(({ name, size, used }) => (
              <li key={name}>
                <span id={`memory-${name}`}>{named("memory", name)}</span>
                <meter min={0} max={size} value={used} high={size * 0.9} aria-labelledby={`memory-${name}`} />
                <small>{s("memory_of", sizeText(used), sizeText(size))}</small>
              </li>
            ))}
          </ul>
        </section>
      )}
      <p className="quiet small">{s("metrics_hint")}</p>
    </>
  );
}
