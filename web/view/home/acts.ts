import type { Example, Template } from "../example.ts";

/** HomeActs are the actions of the home view on the page. */
export interface HomeActs {
  onNew(): void;
  onDraft(key: string): void;
  onHost(id: string): void;
  onExample(example: Example): void;
  onTemplate(template: Template): void;
  /** onImport opens a file picker; a preview of the import precedes the opening. */
  onImport(): void;
}
