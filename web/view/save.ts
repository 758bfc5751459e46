// Downloads of files that the page created.

/**
 * save downloads a file under a name. Its type is always generic: a canvas may have written it, and
 * a browser that displayed it inline would run it with the origin of this page.
 */
export function save(content: BlobPart, name: string): void {
  const address = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** fromBase64 decodes a file; invalid base64 returns an empty one. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
