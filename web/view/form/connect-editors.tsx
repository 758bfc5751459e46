// The editors of connections, in one file to load.

import Database from "./database.tsx";
import HeaderRows from "./headers.tsx";
import type { Kind } from "./params.tsx";
import type { ControlProps } from "./props.ts";
import Request from "./request.tsx";
import Servers from "./servers.tsx";
import Webhook from "./webhook.tsx";

const editors = { servers: Servers, headers: HeaderRows, webhook: Webhook, request: Request, database: Database };

/** ConnectEditor edits a setting of any kind of connection. */
export default function ConnectEditor({ kind, ...props }: ControlProps & { kind: Kind }): React.ReactNode {
  const Chosen = editors[kind];
  return <Chosen {...props} />;
}
