// The way to save the open canvas, for all parts of the page that offer it.

import { Store } from "../run/store.ts";

/**
 * saver stores the open canvas on the host, or asks for what it needs; it returns whether the host
 * has it. It is undefined while no canvas is open.
 */
export const saver = new Store<(() => Promise<boolean>) | undefined>(undefined);
