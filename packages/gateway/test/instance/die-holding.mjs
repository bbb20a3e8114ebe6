// Takes the lock as soon as it can, checks that no other process holds it, and dies without releasing it.
import { rmSync, writeFileSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { claimLock, HeldLock } from 'turnbuckle/host';

const [path] = process.argv.slice(2);
for (;;) {
  const claimed = claimLock(path);
  if (claimed instanceof HeldLock) break;
  await sleep(1);
}
try {
  writeFileSync(`${path}-inside`, '', { flag: 'wx' });
  await sleep(3);
  rmSync(`${path}-inside`);
  writeSync(1, 'alone');
} catch (error) {
  writeSync(1, String(error));
}
process.kill(process.pid, 'SIGKILL');
