// A new MCP server, outside of a form.

import { AsJson } from "./as-json.tsx";
import { Rows } from "./lists.tsx";
import { PartsContext } from "./params.tsx";
import { Prompt } from "./prompt.tsx";
import { NewServer } from "./servers.tsx";

const parts = { AsJson, Rows, Prompt };

/** Outside draws NewServer with the parts that a form would give it. */
export default function Outside(props: React.ComponentProps<typeof NewServer>): React.ReactNode {
  return (
    <PartsContext value={parts}>
      <NewServer {...props} />
    </PartsContext>
  );
}
