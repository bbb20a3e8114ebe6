// A process that edits a configuration file until it is done or killed. It prints one line for each edit
// that was acknowledged. Arguments: what to do, the file, a name for itself, how many edits.
import { writeSync } from 'node:fs';
import { editConfig, editServers } from '../../dist/config/edit/config-editor.js';
import { setKey } from '../../dist/config/edit/edit-servers.js';

const [task, file, self, count] = process.argv.slice(2);
const acknowledge = (value) => writeSync(1, `${JSON.stringify(value)}\n`);
const below = (limit) => Math.floor(Math.random() * limit);
const options = { timeoutMs: 20_000 };

const known = new Map();

function randomEdit(turn) {
  const name = `${self}-${below(6)}`;
  const config = {
    command: 'node',
    args: Array.from({ length: below(4) }, () => `arg-${turn}`),
    env: { TURN: `${turn}` },
  };
  if (!known.has(name)) {
    known.set(name, config);
    return { action: 'add', name, config };
  }
  const action = ['set', 'remove', 'disable', 'enable', 'set-key'][below(5)];
  const old = known.get(name);
  if (action === 'remove') known.delete(name);
  else if (action === 'set') known.set(name, config);
  else if (action === 'disable') known.set(name, { ...old, enabled: false });
  else if (action === 'enable') known.set(name, 'enabled' in old ? { ...old, enabled: true } : old);
  else known.set(name, { ...old, env: { ...old.env, EXTRA: `${turn}` } });
  return { action, name, config, key: ['env', 'EXTRA'], value: `${turn}` };
}

const tasks = {
  /** Sequences of edits of its own servers; acknowledges the resulting servers. */
  async sequences(turn) {
    const edits = Array.from({ length: 1 + below(4) }, () => randomEdit(turn));
    await editServers(file, edits, options);
    acknowledge(Object.fromEntries(known));
  },
  /** Increments a number that all writers share: without a lock, increments would be lost. */
  async increments() {
    let value = 0;
    await editConfig(
      file,
      (text) => {
        value = Number(/"counter": (\d+)/.exec(text)[1]) + 1;
        return setKey(text, ['counter'], value);
      },
      options,
    );
    acknowledge(value);
  },
};

for (let turn = 0; turn < Number(count); turn += 1) await tasks[task](turn);
