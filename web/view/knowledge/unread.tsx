// Reasons why a document could not be read. The host reports them in English, with one of a few
// phrases; other languages have translations of these.

import { en, type AreaKey } from "../../words/areas.en.ts";
import { useAreaText } from "../area/text.ts";
import { useLook } from "../context.tsx";

const kinds = [
  "unread.format", "unread.encrypted", "unread.damaged", "unread.no_text", "unread.limit", "unread.busy",
] as const satisfies AreaKey[];

/** unreadOf returns the key of the words for a message of the host, if there is one. */
export function unreadOf(message: string): AreaKey | undefined {
  return kinds.find((kind) => message.includes(en[kind]));
}

/** Unread shows a message of the host, below words in the person's language. */
export function Unread({ message }: { message: string }): React.ReactNode {
  const a = useAreaText();
  const language = useLook((look) => look.language);
  const kind = language === "en" ? undefined : unreadOf(message);
  if (kind === undefined) return message;
  return (
    <>
      {a(kind)}
      <small lang="en" className="original">{message}</small>
    </>
  );
}
