/** Gives the tests their own state directory, so that they neither read nor change the developer's. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export default async function ownHome(): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'turnbuckle-state-'));
  process.env.XDG_STATE_HOME = directory;
  return () => rm(directory, { recursive: true, force: true });
}
