import type { Example, Template } from "../example.ts";

/** HomeActs are the actions of the home view on the page. */
export interface HomeActs {
  onNew(): void;
  onDraft(key: string): void;
  onHost(id: string): void;
  onExample(example: Example): void;
  onTemplate(template: Template): void;
  /** onImport asks for a file and shows what will become of it before it is opened. */
  onImport(): void;
}
