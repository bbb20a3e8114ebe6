import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryDirectory {
  readonly path: string;
  /** The path of a file in the directory. */
  file(name: string): string;
  /** Removes the directory and its content; also happens when the process exits. */
  remove(): Promise<void>;
}

const open = new Set<string>();

/** Creates an empty temporary directory. */
export async function temporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(tmpdir(), 'turnbuckle-test-'));
  if (open.size === 0) process.once('exit', removeAll);
  open.add(path);
  return {
    path,
    file: (name) => join(path, name),
    remove: async () => {
      await rm(path, { recursive: true, force: true });
      open.delete(path);
      if (open.size === 0) process.off('exit', removeAll);
    },
  };
}

function removeAll(): void {
  for (const path of open) rmSync(path, { recursive: true, force: true });
}
