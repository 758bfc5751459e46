// The execution order: the setting of the canvas, and the order that results.

import { orderOf, orders, type Order } from "../canvas/edit/order.ts";
import { useApp, useStore, useText } from "./context.tsx";

/** OrderLine shows the order of the open canvas, which a person can choose. */
export function OrderLine(): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const dsl = useStore(session.document, (document) => document?.dsl);
  const order = useStore(session.order, (all) => all);
  if (!dsl) return null;
  const asked = orderOf(dsl);
  return (
    <p className="order small">
      <label>
        {t("order.label")}{" "}
        <select value={asked} onChange={({ target }) => session.editing.order(target.value as Order)}>
          {orders.map((each) => <option key={each} value={each}>{t(`order.${each}`)}</option>)}
        </select>
      </label>
      {order && <span className="quiet">{t(`order.${asked === "auto" ? "auto_" : ""}${order}_means`)}</span>}
    </p>
  );
}
