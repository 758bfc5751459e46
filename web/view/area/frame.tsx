// The frame of an area: where one is, the way back, and the sign-in before it.

import { useEffect, useRef } from "react";
import { leaveAreas } from "../areas.tsx";
import { useApp, useStore, useText } from "../context.tsx";
import { SignIn } from "../host.tsx";
import { Icon } from "../icons.tsx";
import { useAreaText } from "./text.ts";

/** Crumb is a step of the way to what is shown. */
export interface Crumb {
  label: string;
  href?: string;
}

/** Frame shows an area to a person that is signed in. */
export function Frame({ crumbs, children }: { crumbs: Crumb[]; children: React.ReactNode }): React.ReactNode {
  const t = useText();
  const a = useAreaText();
  const { host, session } = useApp();
  const { status, fault } = useStore(host.state, (state) => state);
  const open = useStore(session.document, (document) => document !== undefined);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (host.state.get().status === "unknown") void host.connect();
  }, [host]);
  const where = crumbs.map(({ label }) => label).join(" / ");
  useEffect(() => {
    heading.current?.focus();
  }, [where]);
  return (
    <section className="area" aria-busy={status === "asking"}>
      <div className="area-head">
        <h1 ref={heading} tabIndex={-1}>
          {crumbs.map(({ label, href }, i) => (
            <span key={i}>
              {i > 0 && <i aria-hidden="true">/</i>}
              {href ? <a href={href}>{label}</a> : label}
            </span>
          ))}
        </h1>
        <button type="button" onClick={leaveAreas}>
          <Icon name="grid" />
          {open ? a("back.canvas") : t("bar.gallery")}
        </button>
      </div>
      {status === "asking" && (
        <p className="quiet" role="status">
          <span className="spinner" /> {t("host.asking")}
        </p>
      )}
      {status === "closed" && <SignIn />}
      {status === "none" && (
        <p className="quiet" role="status">
          {a("host.none", fault ?? "")}{" "}
          <button type="button" onClick={() => void host.connect()}>
            {t("host.again")}
          </button>
        </p>
      )}
      {status === "open" && children}
    </section>
  );
}
