// What the host learned of models from the answers of their servers; it can be forgotten.

import type { Learned } from "../../run/admin.ts";
import type { Loaded } from "../area/parts.tsx";
import { useApp, useStore } from "../context.tsx";
import { Row, useAdmin, useFormats, useSettingsText } from "./parts.tsx";

/** LearnedList lists it by model. */
export function LearnedList({
  learned,
  after,
}: { learned: Learned[] } & Pick<Loaded<unknown>, "after">): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const formats = useFormats();
  const { host } = useApp();
  const operates = useStore(host.state, ({ scopes }) => scopes.includes("host"));
  const forget = ({ provider, model }: Learned): Promise<void> =>
    after(() =>
      admin.remove(`/providers/${encodeURIComponent(provider)}/learned?model=${encodeURIComponent(model)}`),
    );
  return (
    <section className="settings-part">
      <h2>{s("learned")}</h2>
      <p className="quiet">{s("learned_hint")}</p>
      <ul className="entries settings-list" aria-label={s("learned")}>
        {learned.map((each) => (
          <Row
            key={`${each.model}@${each.provider}`}
            title={`${each.model}@${each.provider}`}
            facts={[...factsOf(each, s, formats.count), s("learned_until", formats.day(each.until))]}
            {...(each.host && !operates ? {} : { remove: () => forget(each) })}
          />
        ))}
      </ul>
    </section>
  );
}

function factsOf(
  { refused = [], renamed = {}, unsent = [], no_tools, reasons, batch, max_tokens, base_url }: Learned,
  s: ReturnType<typeof useSettingsText>,
  count: (n: number) => string,
): string[] {
  const facts = Object.entries(renamed).map(([from, to]) => s("learned_renamed", from, to));
  if (refused.length > 0) facts.push(s("learned_refused", refused.join(", ")));
  if (unsent.length > 0) facts.push(s("learned_unsent", unsent.join(", ")));
  if (no_tools) facts.push(s("learned_no_tools"));
  if (reasons) facts.push(s("learned_reasons"));
  if (batch) facts.push(s("learned_batch", count(batch)));
  if (max_tokens) facts.push(s("learned_most", count(max_tokens)));
  if (base_url) facts.push(s("learned_base", base_url));
  return facts;
}
