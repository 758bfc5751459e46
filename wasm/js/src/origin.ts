// Headers that a request may keep after a redirect to another origin.

const words = /auth|cookie|token|secret|password|credential|session|signature|key$/;

/**
 * isCredential reports whether the name of a header suggests a credential. Such a header must not
 * be sent to another origin after a redirect. Its server twin is host/internal/egress/reach; both
 * are tested with the same list.
 */
export function isCredential(header: string): boolean {
  return words.test(header.toLowerCase().replace(/[-_]/g, ""));
}
