// The first call after a long list of tools with output schemas: shows work that a client defers until then, or
// does for tools that are not called.
import { stdioServer } from '../harness/bare-server.mjs';
import { calm } from '../harness/calm.mjs';
import { openClient } from '../harness/client-process.mjs';
import { sampleFresh } from '../harness/rounds.mjs';

const figure = 'first-call';
const server = 'bench';
const tools = 1000;

/** @param {import('../subjects.mjs').Subject} subject */
async function timeFirstCall(subject) {
  const { client, toolCount } = await openClient(subject, [
    stdioServer(server, { tools, outputSchemas: true }),
  ]);
  try {
    if (toolCount !== tools) throw new Error(`${subject.label} lists ${toolCount} of ${tools} tools`);
    await calm();
    const { samples } = await client.run('sequence', { server, bytes: 16, count: 1, unmeasured: 0 });
    return samples[0] / 1000;
  } finally {
    await client.stop();
  }
}

/** @param {import('../harness/rounds.mjs').RunContext} context */
export async function runFirstCall(context) {
  if (!context.wants(figure)) return;
  context.note(figure);
  await sampleFresh(context, figure, timeFirstCall);
}
