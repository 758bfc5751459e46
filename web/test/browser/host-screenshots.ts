// Pictures of the areas of a host with typical content. Usage: host-screenshots.ts FOLDER [NAME...]

import { mkdirSync } from "node:fs";
import { hostTour } from "./host-tour.ts";
import type { Look } from "./stage.ts";

const folder = process.argv[2];
if (!folder) throw new Error("a folder for the pictures is needed");
const only = process.argv.slice(3);
mkdirSync(folder, { recursive: true });
const { stage, shots, enter, close } = await hostTour();
const looks: [suffix: string, look: Look, chinese: boolean][] = [
  ["", {}, false],
  ["-dark", { dark: true }, false],
  ["-phone", { width: 390, height: 844 }, false],
  ["-chinese", {}, true],
];

try {
  for (const [name, hash, act] of shots) {
    for (const [suffix, look, chinese] of looks) {
      if (only.length > 0 && !only.includes(name) && !only.includes(name + suffix)) continue;
      const { page } = await stage.open(hash, look);
      if (chinese) await page.getByRole("button", { name: "中文" }).click();
      await enter(page);
      await act(page).catch((err: unknown) => {
        throw new Error(`picture ${name}${suffix}`, { cause: err });
      });
      await page.waitForTimeout(250);
      await page.screenshot({ path: `${folder}/${name}${suffix}.png` });
      await page.context().close();
    }
  }
} finally {
  await close();
}
