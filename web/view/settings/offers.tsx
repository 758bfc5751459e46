// The models that a provider serves, as its own list has them.

import { useState } from "react";
import type { Defaults, Offer, Provider } from "../../run/admin.ts";
import { Fault, useAttempt, useLoaded, type Loaded } from "../area/parts.tsx";
import { useAdmin, useFormats, useSettingsText, Waiting } from "./parts.tsx";

// More than a person looks through; a search finds the others.
const most = 50;

type Chosen = Offer & { kind: keyof Defaults };

// Reranking models have no default: searches name them.
const hasDefault = (offer: Offer): offer is Chosen => offer.kind !== "rerank";

/** Offers lists the models of a provider with a search; each can become a default. */
export function Offers({
  provider,
  defaults,
  after,
}: { provider: Provider; defaults: Defaults } & Pick<Loaded<unknown>, "after">): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const { count } = useFormats();
  const attempt = useAttempt();
  const [typed, setTyped] = useState("");
  const path = `/providers/${encodeURIComponent(provider.name)}`;
  const loaded = useLoaded(path, () => admin.list<Offer>(`${path}/models`));
  const { value } = loaded;
  if (!value) return <Waiting loaded={loaded} />;
  const words = typed.toLowerCase().split(/\s+/);
  const found = value.filter(hasDefault).filter(({ name }) =>
    words.every((word) => name.toLowerCase().includes(word)),
  );
  const use = async ({ name, kind }: Chosen): Promise<void> => {
    const { name: _name, has_key: _key, header_names: _headers, ...rest } = provider;
    if (rest.models.length > 0 && !rest.models.some((each) => each.name === name)) {
      await admin.put(path, { ...rest, models: [...rest.models, { name, kind }] });
    }
    await after(() => admin.put("/models/default", { ...defaults, [kind]: `${name}@${provider.name}` }));
  };
  return (
    <div className="offers">
      <input
        type="search"
        aria-label={s("offers_search", count(value.length))}
        placeholder={s("offers_search", count(value.length))}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      <Fault text={attempt.fault} />
      <ul aria-label={s("provider_models")}>
        {found.slice(0, most).map((offer) => {
          const chosen = defaults[offer.kind] === `${offer.name}@${provider.name}`;
          const label = s(chosen ? "offer_chosen" : "offer_use");
          const facts = [
            offer.kind !== "chat" && s(`default_${offer.kind}`),
            offer.context && s("offer_context", count(offer.context)),
            ...(["tools", "images", "reasoning"] as const).map((each) => offer[each] && s(`offer_${each}`)),
          ];
          return (
            <li key={offer.name}>
              <span>
                {offer.name} <small>{facts.filter(Boolean).join(" · ")}</small>
              </span>
              <button
                type="button"
                disabled={attempt.busy || chosen}
                aria-label={`${label}: ${offer.name}`}
                onClick={() => void attempt.run(() => use(offer))}
              >
                {label}
              </button>
            </li>
          );
        })}
      </ul>
      {found.length > most && <p className="quiet">{s("offers_more", count(found.length - most))}</p>}
      {found.length === 0 && <p className="quiet">{s("offers_none")}</p>}
    </div>
  );
}
