/** A server may store a login in its home: agents with credentials of their own do not share one. */
import { temporaryDirectory } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { parseServer } from '../../src/config/layers/parse.js';
import { toSandboxPolicy } from '../../src/config/schema/sandbox-schema.js';
import { homeMount } from '../../src/connection/sandbox/home.js';

// requirement K2
it('the home of a sandboxed server is another one for each agent with credentials', async () => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const config = parseServer('one', { command: 'x', sandbox: true });
  const policy = toSandboxPolicy(true);
  if (config.type !== 'stdio' || policy === undefined) throw new Error('another kind of server');
  const sourceFor = async (agent?: string): Promise<string | undefined> => {
    const env = { HOME: '/home/someone' };
    const mount = await homeMount({ server: 'one', agent, config, policy, env, stateDir: directory.path });
    return mount?.kind === 'home' ? mount.source : undefined;
  };
  const [host, ada, bob] = [await sourceFor(), await sourceFor('ada'), await sourceFor('bob')];
  expect(new Set([host, ada, bob, undefined]).size).toBe(4);
  expect(await sourceFor('ada')).toBe(ada);
});
