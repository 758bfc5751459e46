export const zh: Readonly<Record<string, string>> = {};
