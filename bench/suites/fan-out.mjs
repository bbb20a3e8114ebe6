// Twenty stdio servers at once, from the start until all tools are listed. Every library is loaded in advance, and
// ours has cached the era of these servers, as in every run of a user but the first.
import { stdioServer } from '../harness/bare-server.mjs';
import { calm } from '../harness/calm.mjs';
import { openClient } from '../harness/client-process.mjs';
import { sampleFresh } from '../harness/rounds.mjs';
import { ours } from '../subjects.mjs';

const figure = 'fan-out';
const toolsEach = 10;
const servers = Array.from({ length: 20 }, (_, index) => stdioServer(`server${index}`, { tools: toolsEach }));

/** @param {import('../subjects.mjs').Subject} subject */
async function timeFanOut(subject) {
  await calm();
  const { client, elapsedMs, toolCount } = await openClient(subject, servers);
  await client.stop();
  const expected = servers.length * toolsEach;
  if (toolCount !== expected) throw new Error(`${subject.label} lists ${toolCount} of ${expected} tools`);
  return elapsedMs;
}

/** @param {import('../harness/rounds.mjs').RunContext} context */
export async function runFanOut(context) {
  if (!context.wants(figure)) return;
  context.note(figure);
  const known = context.subjects.find(({ id }) => id === ours.id);
  // A failure of the warm-up shows again, and is recorded, in the first round.
  if (known !== undefined) await timeFanOut(known).catch(() => {});
  await sampleFresh(context, figure, timeFanOut);
}
