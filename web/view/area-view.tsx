// An area of the host; its code is loaded when one is first opened.

import { lazy, Suspense } from "react";
import type { Area } from "./areas.tsx";
import { useText } from "./context.tsx";

const Knowledge = lazy(() => import("./knowledge/area.tsx"));
const Runs = lazy(() => import("./runs/area.tsx"));
const Docs = lazy(() => import("./docs/area.tsx"));
const Settings = lazy(() => import("./settings/area.tsx"));

/** AreaView shows an area. */
export function AreaView({ area, onCanvas }: { area: Area; onCanvas(id: string): Promise<void> }): React.ReactNode {
  const t = useText();
  const waiting = (
    <p className="busy quiet" role="status">
      <span className="spinner" /> {t("host.asking")}
    </p>
  );
  return (
    <Suspense fallback={waiting}>
      {area.name === "knowledge" && <Knowledge path={area.path} />}
      {area.name === "runs" && <Runs path={area.path} onCanvas={onCanvas} />}
      {area.name === "settings" && <Settings path={area.path} />}
      {area.name === "docs" && <Docs path={area.path} />}
    </Suspense>
  );
}
