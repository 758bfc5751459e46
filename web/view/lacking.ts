// Models that a canvas names and the host does not have.

import { useMemo } from "react";
import type { Dsl } from "../canvas/dsl.ts";
import { resourcesOf, type Named } from "../canvas/edit/resources.ts";
import { isListed } from "../run/model-names.ts";
import { useApp, useStore } from "./context.tsx";

/** useLacking lists the models that the signed-in person's host lacks, with the steps of each. */
export function useLacking(dsl: Dsl | undefined): [id: string, nodes: readonly string[]][] {
  const { host } = useApp();
  const { status, models } = useStore(host.state, (state) => state);
  const named: Named = useMemo(() => (dsl ? resourcesOf(dsl).model : new Map()), [dsl]);
  return useMemo(() => {
    if (status !== "open" || models.length === 0) return [];
    return [...named].filter(([id]) => !isListed(models, id));
  }, [named, status, models]);
}
