/** While the daemon runs, nothing looks at files in a way that holds up all of it, but what is named here. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const PACKAGES = new URL('../../../', import.meta.url).pathname;
const REACHED = 'behind reach() in its callers: the drive has just answered';
const OWN = "the daemon's own state directory, without which it cannot run";
const PROC = '/proc, /dev and the like: the kernel answers at once';

const ALLOWED: Readonly<Record<string, string>> = {
  'core/src/auth/key-chain.ts': 'text of a program that runs elsewhere',
  'core/src/config/edit/lock-record.ts': REACHED,
  'core/src/config/edit/make-directory.ts': REACHED,
  'core/src/config/edit/process-identity.ts': PROC,
  'core/src/config/edit/real-target.ts': REACHED,
  'core/src/connection/descriptors.ts': PROC,
  'core/src/connection/proc.ts': PROC,
  'core/src/connection/processes.ts': PROC,
  'core/src/connection/sandbox/support.ts': PROC,
  'core/src/fetching/open-browser.ts': 'the PATH of the host itself, when a person signs in under WSL',
  'gateway/src/instance/daemon-record.ts': OWN,
  'gateway/src/instance/private-file.ts': OWN,
  'gateway/src/instance/process-identity.ts': PROC,
  'gateway/src/instance/process-lock.ts': OWN,
  'gateway/src/tokens/owner-token.ts': OWN,
};

const SYNC = /\b(?!spawnSync|execSync|execFileSync)[a-z]+[A-Za-z]*Sync\b/;

it('no other file of the library or the daemon calls the file system synchronously', () => {
  const sources = ['core/src', 'gateway/src'].flatMap((folder) =>
    readdirSync(join(PACKAGES, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  );
  const found = sources.filter((name) => SYNC.test(readFileSync(join(PACKAGES, name), 'utf8')));
  expect(found.sort()).toEqual(Object.keys(ALLOWED).sort());
});
