// Headers that a request may keep after a redirect to another origin.

const words = /auth|cookie|token|secret|password|credential|session|signature|key$/;

/**
 * isCredential reports whether a header may carry a credential by its name. Such a header must not
 * follow a redirect to another origin. The twin on the server is host/internal/reach; both are
 * tested with the same list.
 */
export function isCredential(header: string): boolean {
  return words.test(header.toLowerCase().replace(/[-_]/g, ""));
}
