// Files of a run in memory, for tests of plugins that read and store some.

import type { Files, StoredFile } from "../src/plugin/file.ts";

/** MemoryFiles holds one file, f1, and what is stored. */
export class MemoryFiles implements Files {
  readonly all = new Map<string, StoredFile>([
    ["f1", { name: "year.csv", mime: "text/csv", bytes: new TextEncoder().encode("Ålesund,3\n") }],
  ]);

  read(id: string): StoredFile | undefined {
    return this.all.get(id);
  }

  save(file: StoredFile): Record<string, unknown> {
    const id = `f${this.all.size + 1}`;
    this.all.set(id, file);
    return { doc_id: id, format: "csv", file_name: file.name };
  }
}
