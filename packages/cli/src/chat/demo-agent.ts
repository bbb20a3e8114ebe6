/** An agent for trying it out: a daemon of its own in a temporary directory, the demo server, and a scripted model. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAgentPart, DEMO_MODEL, startDemoModel } from '@turnbuckle/agent';
import { startDaemon } from '@turnbuckle/gateway';
import { DaemonClient } from '../daemon/daemon-client.js';
import { ownCommand } from '../terminal/own-command.js';
import { VERSION } from '../version.js';

const CLOSE_MS = 1_000;

/** Nothing of it is left afterwards, and nothing of yours is used. */
export async function withDemoAgent<T>(work: (client: DaemonClient) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'turnbuckle-demo-'));
  const model = await startDemoModel();
  const settings = {
    model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: DEMO_MODEL },
  } as const;
  try {
    const daemon = await startDaemon({
      version: VERSION,
      stateDir: join(directory, 'state'),
      cwd: directory,
      environment: { ...process.env, HOME: directory, XDG_CONFIG_HOME: join(directory, 'config') },
      port: 0,
      usual: new Map([['demo', ownCommand('demo-server')]]),
      // The tools of the demo server change nothing.
      defaultDecision: 'allow',
      parts: [createAgentPart({ settings: () => settings })],
    });
    try {
      await daemon.configured.runtime.connect('demo');
      return await work(new DaemonClient({ url: daemon.url, token: daemon.token }));
    } finally {
      await daemon.close(CLOSE_MS);
    }
  } finally {
    await model.close();
    await rm(directory, { recursive: true, force: true });
  }
}
