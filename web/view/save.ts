// Hands a file to the browser, which asks the person where it goes.

/**
 * save offers a file under a name. The file has no type of its own: a canvas may have written it,
 * and a browser that opened it in place would do so as this page.
 */
export function save(content: BlobPart, name: string): void {
  const address = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/**
 * fromBase64 returns the bytes of a file that travelled as text; what is no base64 gives an empty
 * file.
 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
