/** While the daemon runs, only the files named here access the file system synchronously. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const PACKAGES = new URL('../../../', import.meta.url).pathname;
const REACHED = 'behind reach() in its callers: the drive has just answered';
const OWN = "the daemon's own state directory, without which it cannot run";
const PROC = '/proc, /dev and the like: the kernel answers at once';

const ALLOWED: Readonly<Record<string, string>> = {
  'core/src/vault/keychain.ts': 'text of a program that runs elsewhere',
  'core/src/files/lock-record.ts': REACHED,
  'core/src/files/make-directory.ts': REACHED,
  'core/src/files/private-file.ts': OWN,
  'core/src/files/process-identity.ts': PROC,
  'core/src/files/real-target.ts': REACHED,
  'core/src/connection/processes/inherited-descriptors.ts': PROC,
  'core/src/connection/processes/proc.ts': PROC,
  'core/src/connection/processes/process-table.ts': PROC,
  'core/src/connection/sandbox/sandbox-support.ts': PROC,
  'core/src/host/index.ts': 'exports those for the state directory',
  'core/src/fetching/open-browser.ts': 'the PATH of the host itself, when a person signs in under WSL',
  'gateway/src/instance/daemon-record.ts': OWN,
  'gateway/src/mcp/sealed/task-key.ts': OWN,
  'gateway/src/tokens/owner-token.ts': OWN,
  'gateway/src/tokens/token-file.ts': OWN,
  'gateway/src/tokens/token-use.ts': OWN,
};

const SYNC = /\b(?!spawnSync|execSync|execFileSync|randomFillSync)[a-z]+[A-Za-z]*Sync\b/;

it('no other file of the library or the daemon calls the file system synchronously', () => {
  const sources = ['core/src', 'gateway/src'].flatMap((folder) =>
    readdirSync(join(PACKAGES, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  );
  const found = sources.filter((name) => SYNC.test(readFileSync(join(PACKAGES, name), 'utf8')));
  expect(found.sort()).toEqual(Object.keys(ALLOWED).sort());
});
