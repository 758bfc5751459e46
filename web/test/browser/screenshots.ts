// Writes pictures of the main views: npm run screenshots -- FOLDER

import { mkdirSync } from "node:fs";
import { missing, raise } from "./stage.ts";
import { shots } from "./tour.ts";

const folder = process.argv[2] ?? "dist/screenshots";
const why = missing();
if (why) throw new Error(why);
mkdirSync(folder, { recursive: true });
const stage = await raise();

const only = process.argv.slice(3);
try {
  for (const [name, hash, more, act] of shots) {
    if (only.length > 0 && !only.includes(name)) continue;
    const { page } = await stage.open(hash, more);
    await act(page).catch((err: unknown) => { throw new Error(`picture ${name}`, { cause: err }); });
    await page.waitForTimeout(250);
    await page.screenshot({ path: `${folder}/${name}.png` });
    await page.context().close();
  }
} finally {
  await stage.close();
}
