// Restores the login at addresses that show only the person's own data. An address that a stranger
// can make, with a canvas in it or to be fetched, must not cause a request with the login.

import type { Host } from "./host.ts";

/**
 * isOwn reports whether an address leads to the home view, an area or a canvas of the host, or a
 * draft whose id only this browser knows. Drafts of links, files and examples have ids that follow
 * from their text.
 */
export function isOwn(hash: string): boolean {
  if (hash === "" || hash === "#") return true;
  if (/^#(host$|(knowledge|runs|settings)(=|$)|canvas=)/.test(hash)) return true;
  return /^#draft=(new|host)(:|%3A)/i.test(hash);
}

const remembered = "easel.signed-in";

/** expectLogin records that the person leaves for the login page, which returns here. */
export function expectLogin(): void {
  try {
    localStorage.setItem(remembered, "1");
  } catch { /* then the person signs in again */ }
}

/**
 * staySignedIn signs a person in again whose login this browser had when the page was left, now or
 * when the page is at such an address. Where there was no login, no request is made.
 */
export function staySignedIn(
  host: Pick<Host, "state" | "connect" | "hasLogin">, storage: Storage | undefined,
  { hash, moved }: { hash(): string; moved(listener: () => void): void },
): void {
  const come = (): void => {
    try {
      const { status } = host.state.get();
      if (status === "unknown" && storage?.getItem(remembered) && isOwn(hash())) void host.connect();
    } catch { /* the browser may refuse storage */ }
  };
  host.state.subscribe(() => {
    const { status } = host.state.get();
    try {
      if (status === "open" && host.hasLogin) storage?.setItem(remembered, "1");
      if (status === "closed") storage?.removeItem(remembered);
    } catch { /* then the person signs in again */ }
  });
  moved(come);
  come();
}
