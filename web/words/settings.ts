// Texts of the settings of a host; they are loaded with them. Both languages have the same keys.

import { en, type SettingsKey } from "./settings.en.ts";
import { zh } from "./settings.zh.ts";

export type { SettingsKey };

/** texts holds the tables of both languages. */
export const texts = { en, zh };

/** SettingsText returns a text with values for its placeholders {0}, {1}. */
export type SettingsText = (key: SettingsKey, ...values: (string | number)[]) => string;
