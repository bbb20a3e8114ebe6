// Detecting a server's era may start a second process, but only once: after that each connection starts the
// server exactly once. The server writes a line per start.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stdioServer } from '../harness/bare-server.mjs';
import { openClient } from '../harness/client-process.mjs';
import { ours } from '../subjects.mjs';

const figure = 'single-start';
const server = 'bench';

/** @param {import('../subjects.mjs').ServerSpec} spec */
async function connectOnce(subject, spec) {
  const { client } = await openClient(subject, [spec]);
  try {
    await client.run('sequence', { server, bytes: 16, count: 1, unmeasured: 0 });
  } finally {
    await client.stop();
  }
}

/** @param {import('../harness/rounds.mjs').RunContext} context */
export async function runSingleStart(context) {
  const subject = context.subjects.find(({ id }) => id === ours.id);
  if (subject === undefined || !context.wants(figure)) return;
  context.note(figure);
  try {
    for (const era of /** @type {const} */ (['legacy', 'both'])) {
      const startsFile = join(context.scratchDirectory, `starts-${era}`);
      const spec = stdioServer(server, { era, startsFile });
      await connectOnce(subject, spec);
      for (let round = 0; round < context.rounds; round++) {
        writeFileSync(startsFile, '');
        await connectOnce(subject, spec);
        const value = readFileSync(startsFile, 'utf8').split('\n').length - 1;
        context.measurements.record({
          figure,
          subject: ours.id,
          round: era === 'legacy' ? round : round + context.rounds,
          value,
        });
      }
    }
  } catch (error) {
    context.measurements.fail({ figure, subject: ours.id, error });
  }
}
