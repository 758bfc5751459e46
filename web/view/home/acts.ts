import type { Example, Template } from "../example.ts";

/** HomeActs are what the home view can do to the page. */
export interface HomeActs {
  onNew(): void;
  onDraft(key: string): void;
  onHost(id: string): void;
  onExample(example: Example): void;
  onTemplate(template: Template): void;
  /** onImport asks for a file and shows what will become of it before it is opened. */
  onImport(): void;
}
