/** Gives the tests their own state directory, so that they neither read nor change the developer's. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export default async function ownHome(): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'turnbuckle-state-'));
  process.env.XDG_STATE_HOME = directory;
  // Each Node that a test starts would read these certificates, which takes longer than its start. No test needs them.
  delete process.env.NODE_EXTRA_CA_CERTS;
  return () => rm(directory, { recursive: true, force: true });
}
