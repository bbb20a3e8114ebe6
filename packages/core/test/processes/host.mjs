// A host program: starts the given servers, prints READY, and ends in the given way.
import { processesWithEnvironment } from '@turnbuckle/testing';
import { createRuntime } from 'turnbuckle';

const { servers, stateDir, runtimes = 1, ending, mark } = JSON.parse(process.argv[2] ?? '{}');
const say = (word, facts = {}) => process.stdout.write(`${JSON.stringify({ word, ...facts })}\n`);

if (ending === 'own-handler') process.on('SIGTERM', () => say('TERM', { left: marked().length }));

const marked = () => processesWithEnvironment('CYCLE', mark);
const open = [];
for (let count = 0; count < runtimes; count += 1) {
  const runtime = await createRuntime({ servers, stateDir });
  open.push(runtime);
  await runtime.connectAll();
}
say('READY', { status: open.flatMap((runtime) => runtime.status().map(({ status }) => status)) });

// In any case, this program does not outlive its parent.
process.stdin.on('end', () => process.exit(0)).resume();

const endings = {
  async close() {
    await Promise.all(open.map((runtime) => runtime.close()));
    say('CLOSED', { left: marked().length });
  },
  exit: () => process.exit(3),
  throw() {
    throw new Error('uncaught as asked');
  },
};
process.stdin.once('data', () => endings[ending]?.());
