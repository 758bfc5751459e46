// The tenant's usage of models: tokens and cost, by day, by canvas and by model.

import { useState } from "react";
import { days, type Usage, type Use } from "../../run/admin.ts";
import { Empty, useLoaded } from "../area/parts.tsx";
import { moneyOf } from "../area/text.ts";
import { useLook } from "../context.tsx";
import { useAdmin, useFormats, useSettingsText, Waiting } from "./parts.tsx";

const periods = [7, 30, 90];

/** UsageSection shows the usage of a period. */
export function UsageSection(): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const [length, setLength] = useState(30);
  const loaded = useLoaded(`usage ${length}`, async () => {
    const to = new Date().toISOString().slice(0, 10);
    const from = new Date(Date.parse(to) - (length - 1) * 86_400_000).toISOString().slice(0, 10);
    const get = (by: string): Promise<Usage> => admin.get(`/usage?by=${by}&from=${from}&to=${to}`);
    const [day, canvas, model] = await Promise.all([get("day"), get("canvas"), get("model")]);
    return { day, canvas, model };
  });
  const { value } = loaded;
  return (
    <>
      <div className="tools">
        <p className="quiet">{s("usage_hint")}</p>
        <span className="grow" />
        <select
          aria-label={s("usage_period")}
          value={length}
          onChange={(event) => setLength(Number(event.target.value))}
        >
          {periods.map((n) => (
            <option key={n} value={n}>
              {s("usage_days", n)}
            </option>
          ))}
        </select>
      </div>
      {!value && <Waiting loaded={loaded} />}
      {value && value.day.total.calls === 0 && <Empty title={s("usage_none")} text={s("usage_none_hint")} />}
      {value && value.day.total.calls > 0 && (
        <>
          <Totals usage={value.day} />
          <Chart usage={value.day} />
          <Table title={s("usage_by_canvas")} usage={value.canvas} head={s("usage_canvas")} name={canvasName(s)} />
          <Table
            title={s("usage_by_model")}
            usage={value.model}
            head={s("usage_model")}
            name={({ model }) => model ?? ""}
          />
        </>
      )}
      {value && <p className="quiet small">{unitOf(value.day, s)}</p>}
    </>
  );
}

function unitOf({ currency, priced }: Usage, s: ReturnType<typeof useSettingsText>): string {
  return currency ? s("usage_currency", currency) : s(priced ? "usage_priced" : "usage_unpriced");
}

function canvasName(s: ReturnType<typeof useSettingsText>): (use: Use) => string {
  return ({ canvas, title }) => title ?? s(canvas ? "usage_deleted" : "usage_outside");
}

function useMoney({ currency }: Usage): (amount: number) => string {
  const language = useLook((look) => look.language);
  return (amount) => moneyOf(language, amount, currency);
}

const tokensOf = ({ input_tokens: input, output_tokens: output }: Use): number => input + output;

function Totals({ usage }: { usage: Usage }): React.ReactNode {
  const { total, priced } = usage;
  const s = useSettingsText();
  const money = useMoney(usage);
  const { count } = useFormats();
  return (
    <dl className="numbers">
      {priced && (
        <div>
          <dt>{s("usage_total_cost")}</dt>
          <dd>{money(total.cost)}</dd>
        </div>
      )}
      <div>
        <dt>{s("usage_total_tokens")}</dt>
        <dd>{count(tokensOf(total))}</dd>
      </div>
      <div>
        <dt>{s("usage_total_calls")}</dt>
        <dd>{count(total.calls)}</dd>
      </div>
    </dl>
  );
}

// Chart draws a bar for each day: money where there are prices, else tokens.
function Chart({ usage }: { usage: Usage }): React.ReactNode {
  const { from, to, items, priced } = usage;
  const s = useSettingsText();
  const money = useMoney(usage);
  const { day, count } = useFormats();
  const by = new Map(items.map((use) => [use.day, use]));
  const measured = priced && items.some(({ cost }) => cost > 0);
  const size = (use: Use | undefined): number => (use ? (measured ? use.cost : tokensOf(use)) : 0);
  const show = (n: number): string => (measured ? money(n) : count(n));
  const all = days(from, to);
  const most = Math.max(...all.map((each) => size(by.get(each))), 1e-9);
  const width = 100 / all.length;
  const what = s(measured ? "usage_total_cost" : "usage_total_tokens");
  return (
    <figure className="chart">
      <figcaption>
        <b>{s("usage_by_day")}</b> <span className="quiet">{what}</span>
      </figcaption>
      <small className="quiet" aria-hidden="true">
        {show(most)}
      </small>
      <svg
        viewBox="0 0 100 40"
        preserveAspectRatio="none"
        role="img"
        aria-label={s("usage_chart", what, day(from), day(to), show(most))}
      >
        {all.map((each, i) => {
          const height = (size(by.get(each)) / most) * 38;
          return (
            <g key={each}>
              <title>{`${day(each)}: ${show(size(by.get(each)))}`}</title>
              <rect className="hover" x={i * width} y={0} width={width} height={40} />
              <rect className="amount" x={(i + 0.12) * width} y={40 - height} width={width * 0.76} height={height} />
            </g>
          );
        })}
      </svg>
      <p className="axis" aria-hidden="true">
        <span>{day(from)}</span>
        <span>{day(to)}</span>
      </p>
      <details>
        <summary>{s("usage_days_table")}</summary>
        <Rows usage={usage} head={s("usage_day")} name={(use) => day(use.day ?? "")} />
      </details>
    </figure>
  );
}

interface TableProps {
  usage: Usage;
  head: string;
  name(use: Use): string;
}

function Table({ title, ...rest }: TableProps & { title: string }): React.ReactNode {
  return (
    <section className="settings-part">
      <h2>{title}</h2>
      <Rows {...rest} />
    </section>
  );
}

function Rows({ usage, head, name }: TableProps): React.ReactNode {
  const { items, priced } = usage;
  const s = useSettingsText();
  const money = useMoney(usage);
  const { count } = useFormats();
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={head}>
      <table className="usage-table">
        <thead>
          <tr>
            <th scope="col">{head}</th>
            <th scope="col">{s("usage_calls")}</th>
            <th scope="col">{s("usage_input")}</th>
            <th scope="col">{s("usage_output")}</th>
            {priced && <th scope="col">{s("usage_cost")}</th>}
          </tr>
        </thead>
        <tbody>
          {items.map((use, i) => (
            <tr key={use.canvas ?? use.model ?? use.day ?? i}>
              <th scope="row">{name(use)}</th>
              <td>{count(use.calls)}</td>
              <td>{count(use.input_tokens)}</td>
              <td>{count(use.output_tokens)}</td>
              {priced && <td>{money(use.cost)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
