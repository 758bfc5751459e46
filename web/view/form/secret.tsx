// A key or password, which is better a secret of the host.

import { word } from "../../canvas/dsl.ts";
import { SecretField } from "./connect-parts.tsx";
import { useParts } from "./params.tsx";
import type { ControlProps } from "./props.ts";

/** Secret edits a key or password. */
export function Secret(props: ControlProps): React.ReactNode {
  const { id, name, label, spec, value, hint, onChange } = props;
  const { AsJson } = useParts();
  if (typeof (value ?? "") !== "string") return <AsJson {...props} />;
  return (
    <SecretField
      id={id} label={label} hidden value={word(value ?? "")} placeholder={hint} onChange={onChange}
      propose={`${spec?.name ?? ""}_${name}`.toUpperCase().replace(/\W+/g, "_").replace(/^_/, "")}
    />
  );
}
