// The editors of connections, in one file to load.

import { Connection, Database } from "./database.tsx";
import { HeaderLines } from "./headers.tsx";
import { HookSecurity } from "./hook-security.tsx";
import { HookValues } from "./hook-values.tsx";
import { LanguageOfScript } from "./languages.tsx";
import type { Kind } from "./params.tsx";
import type { ControlProps } from "./props.ts";
import { Address, RequestHeaders } from "./request.tsx";
import { Secret } from "./secret.tsx";
import { Servers } from "./servers.tsx";

export { MissingLanguage } from "./languages.tsx";

const editors: Record<Kind, React.ComponentType<ControlProps>> = {
  servers: Servers,
  headers: HeaderLines,
  "request-headers": RequestHeaders,
  webhook: HookSecurity,
  request: HookValues,
  address: Address,
  database: Database,
  connection: Connection,
  secret: Secret,
  language: LanguageOfScript,
};

/** ConnectEditor edits a setting of any kind of connection. */
export default function ConnectEditor({ kind, ...props }: ControlProps & { kind: Kind }): React.ReactNode {
  const Chosen = editors[kind];
  return <Chosen {...props} />;
}
