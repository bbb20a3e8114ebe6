// A process that uses a vault until it is done or killed. It prints a line for each completed step.
// Arguments: what to do, the state directory, how often, and the number to begin with.
import { writeSync } from 'node:fs';
import { createVault } from '../../../dist/vault/vault.js';

const [task, stateDir, count, first] = process.argv.slice(2);
const environment = { TURNBUCKLE_KEYCHAIN: 'off', TURNBUCKLE_PASSPHRASE: process.env.VAULT_WORDS };
const vault = createVault({ stateDir, environment });

const tasks = {
  /** Increments a number that all workers share: without a lock, increments would be lost. */
  increment: () => vault.update('counter', (old) => String(Number(old ?? 0) + 1)),
  rotateFile: () => vault.rotate('file'),
  /** A new key, sometimes in a new place. */
  rotate: (turn) => vault.rotate(turn % 4 === 3 ? 'passphrase' : 'file'),
};

for (let turn = 0; turn < Number(count); turn += 1) {
  await tasks[task](turn + Number(first));
  writeSync(1, '.');
}
