// Copying to the clipboard.

/**
 * copyText puts a text on the clipboard, and reports whether it is there. A page that was loaded
 * over plain HTTP has no clipboard: then the text is selected in the element that shows it, and the
 * browser is asked to copy the selection, which it may refuse.
 */
export async function copyText(text: string, shown?: Element | null): Promise<boolean> {
  const clipboard = navigator.clipboard as Clipboard | undefined;
  try {
    if (clipboard) {
      await clipboard.writeText(text);
      return true;
    }
  } catch { /* not permitted: the selection is left */ }
  if (!shown) return false;
  getSelection()?.selectAllChildren(shown);
  return document.execCommand("copy");
}
