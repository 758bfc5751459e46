// The question before an untrusted canvas runs: the resources that it uses, and under whose
// account.

import { useId, useMemo } from "react";
import { reachOf } from "../canvas/reach.ts";
import { localHosts } from "../run/plugins.ts";
import { useApp, useStore, useText } from "./context.tsx";
import { Icon, type IconName } from "./icons.tsx";

const most = 12; // hosts and plugins that are named

/** Consent is shown instead of the composer until the person allows the canvas to run. */
export function Consent(): React.ReactNode {
  const t = useText();
  const id = useId();
  const { session } = useApp();
  const document_ = useStore(session.document, (document) => document);
  const { kind } = useStore(session.player.provider, (provider) => provider);
  const services = useStore(session.locals.list, (list) => list);
  const added = useStore(session.plugins.list, (list) => list);
  const dsl = document_?.dsl;
  const reached = useMemo(() => dsl && reachOf(dsl), [dsl]);
  if (!document_ || !reached) return null;
  const { hosts, made, scripts, plugins, servers } = reached;
  const locals = [...new Set([...services, ...localHosts(added, plugins)])];
  const named = (list: string[]): string => {
    const more = list.length > most ? [t("canvas.more", list.length - most)] : [];
    return [...list.slice(0, most), ...more].join(", ");
  };
  const lines: [icon: IconName, text: string][] = [
    ...(hosts.length > 0 ? [["globe", t("consent.hosts", named(hosts))] as const] : []),
    ...(made ? [["globe", t("consent.made")] as const] : []),
    ...(scripts > 0 ? [["code", t("consent.scripts", scripts)] as const] : []),
    ...(plugins.length > 0 ? [["box", t("consent.plugins", named(plugins))] as const] : []),
    ...(servers > 0 ? [["tool", t("consent.servers", servers)] as const] : []),
    ...(locals.length > 0 ? [["link", t("consent.local", named(locals))] as const] : []),
    ["spark", kind === "host" ? t("consent.host_models") : t("consent.models", t(`model.${kind}`))],
  ].map(([icon, text]) => [icon as IconName, text as string]);
  return (
    <section className="consent" aria-labelledby={id}>
      <h2 id={id}>{t("consent.title")}</h2>
      <p>{t(document_.source.kind === "link" ? "consent.link" : "consent.file")}</p>
      <ul>{lines.map(([icon, text]) => <li key={text}><Icon name={icon} /><span>{text}</span></li>)}</ul>
      <p className="quiet small">{t(locals.length > 0 ? "consent.never_else" : "consent.never")}</p>
      <button type="button" className="primary wide" onClick={() => session.allow()}>{t("consent.allow")}</button>
    </section>
  );
}
