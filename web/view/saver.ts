// The way to save the open canvas, for all parts of the page that offer it.

import { Store } from "../run/store.ts";

/**
 * saver saves the open canvas on the host and reports whether it did. For a canvas new to the host
 * it opens the save dialog and reports false. It is undefined while no canvas is open.
 */
export const saver = new Store<(() => Promise<boolean>) | undefined>(undefined);
