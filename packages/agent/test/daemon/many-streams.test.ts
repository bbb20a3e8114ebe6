/** Streams of replies that come and go leave nothing behind. */
import { afterEach, expect, it } from 'vitest';
import { type AgentDaemon, startAgentDaemon } from './agent-daemon.js';

const STREAMS = 15;

let agent: AgentDaemon;
const warnings: string[] = [];
const warned = ({ name }: Error): void => void warnings.push(name);
afterEach(async () => {
  process.off('warning', warned);
  await agent.close();
});

// requirement E7
it('a stream that has ended listens to nothing any more', async () => {
  process.on('warning', warned);
  agent = await startAgentDaemon({ script: () => ({ text: 'Hello.' }) });
  const id = await agent.say('hello');
  for (let count = 0; count < STREAMS; count += 1) {
    const leaving = new AbortController();
    const response = await agent.request(`/conversations/${id}/events`, { signal: leaving.signal });
    expect(response.status).toBe(200);
    leaving.abort();
  }
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings.filter((name) => name === 'MaxListenersExceededWarning')).toEqual([]);
});
