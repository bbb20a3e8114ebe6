// A daemon with an agent in a process of its own, on the built packages: the test ends it with SIGKILL.
import { createAgentPart } from '@turnbuckle/agent';
import { startDaemon } from '@turnbuckle/gateway';

const { stateDir, home, file, baseUrl, diesOnSettled } = JSON.parse(process.argv[2]);
// Counts energy that is confirmed only after it is recorded, in a file of its own, as the steward does.
const { openSteward } = await import('./file-steward.mjs');
// Its listener runs after the one that writes the log, and before that of the agent.
const dyingPart = {
  name: 'dying',
  events: [],
  start: async ({ configured: { runtime } }) => {
    if (diesOnSettled) runtime.on('call.settled', () => process.kill(process.pid, 'SIGKILL'));
    return { routes: [], close: async () => {} };
  },
};
const daemon = await startDaemon({
  version: '0.0.0',
  stateDir,
  cwd: home,
  environment: { ...process.env, HOME: home },
  files: [file],
  port: 0,
  parts: [
    dyingPart,
    createAgentPart({
      settings: () => ({
        model: { provider: 'openai-compatible', baseUrl, model: 'big' },
        conversationBudget: 100_000,
      }),
      steward: () => openSteward(`${home}/steward.jsonl`),
    }),
  ],
});
process.stdout.write(`${JSON.stringify({ url: daemon.url, token: daemon.token })}\n`);
