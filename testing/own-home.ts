/** Keeps what a runtime remembers between runs out of the tests, and the tests out of the developer's home. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export default async function ownHome(): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'turnbuckle-state-'));
  process.env.XDG_STATE_HOME = directory;
  return () => rm(directory, { recursive: true, force: true });
}
