// How long runs are kept with their events.

import type { TraceSettings } from "../../run/admin.ts";
import { useLoaded } from "../area/parts.tsx";
import { sizeText } from "../text.ts";
import { Adder, Field, textOf, useAdmin, useFormats, useSettingsText, Waiting } from "./parts.tsx";

const mostDays = 3650;
const gigabyte = 1_000_000_000;
const leastSize = 0.002; // of them; the host takes no less than 1 MiB

/** TracesSection shows the limits of the tenant, and changes them. */
export function TracesSection(): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const { count } = useFormats();
  const path = "/settings/traces";
  const loaded = useLoaded("traces", () => admin.get<TraceSettings>(path));
  const { value, after } = loaded;
  if (!value) return <Waiting loaded={loaded} />;
  const { days, bytes } = value;
  const shown = Number((bytes / gigabyte).toPrecision(3));
  const put = (values: FormData): Promise<unknown> => {
    const size = Number(textOf(values, "size"));
    // A size that was not changed stays as it is to the byte.
    const changed = size === shown ? {} : { bytes: Math.round(size * gigabyte) };
    return after(() => admin.put(path, { days: Number(textOf(values, "days")), ...changed }));
  };
  return (
    <>
      <p className="quiet">{s("traces_hint")}</p>
      <p className="facts" role="status">
        {days > 0 ? s("traces_kept", count(days), sizeText(bytes)) : s("traces_not_kept")}
      </p>
      <Adder label={s("traces_change")} onSubmit={put} key={`${days} ${bytes}`}>
        <Field label={s("traces_days")} name="days" type="number" required min={0} max={mostDays} defaultValue={days} />
        <Field
          label={s("traces_size")} name="size" type="number" required min={leastSize} step="any"
          defaultValue={shown}
        />
        <p className="quiet">{s("traces_lost")}</p>
      </Adder>
    </>
  );
}
