// Programs for the server of a site that sign a user id, which authenticates a visitor to a chat.

/** signingNode signs with Node. The secret comes from the environment of the server. */
export function signingNode(canvas: string): string {
  return `import { createHmac } from "node:crypto";

const canvas = "${canvas}";

// The widget's data-user-signature for a user who is logged in to this site, for a day.
export function userSignature(userId) {
  const expires = Math.floor(Date.now() / 1000) + 24 * 60 * 60;
  const mac = createHmac("sha256", process.env.EASEL_SIGNING_SECRET);
  return expires + "." + mac.update(canvas + "\\n" + expires + "\\n" + userId).digest("hex");
}
`;
}

/** signingPython signs with the standard library of Python. */
export function signingPython(canvas: string): string {
  return `import hashlib
import hmac
import os
import time

canvas = "${canvas}"


def user_signature(user_id: str) -> str:
    """The widget's data-user-signature for a user who is logged in to this site, for a day."""
    expires = int(time.time()) + 24 * 60 * 60
    secret = os.environ["EASEL_SIGNING_SECRET"].encode()
    text = f"{canvas}\\n{expires}\\n{user_id}".encode()
    return f"{expires}.{hmac.new(secret, text, hashlib.sha256).hexdigest()}"
`;
}
