/** A list that waits for a server delays no list of another caller. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fixture, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ownDaemon } from '../daemon/own-daemon.js';

const PROGRAM = fileURLToPath(new URL('./mute-lists.mjs', import.meta.url));

describe('a list that waits for a server', () => {
  it.each(['/resources', '/prompts'])('keeps nobody else from listing: %s', async (path) => {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    const mark = directory.file('mark');
    const mute = {
      ...{ type: 'stdio', command: process.execPath, args: [PROGRAM], era: 'legacy', listTimeoutMs: 5_000 },
      env: { MARK: mark },
    };
    const own = await ownDaemon({ servers: { mute, fine: fixture('echo') }, rules: [{ action: 'allow' }] });
    onTestFinished(() => own.close());
    await own.daemon.configured.runtime.connectAll();
    const tokenFor = async (name: string): Promise<string> => {
      const { body } = await own.post('/api/tokens', { name, can: ['mcp_integration'], access: ['call'] });
      return String(body.token);
    };
    const [ada, bob] = [await tokenFor('ada'), await tokenFor('bob')];
    let isWaiting = true;
    const waiting = own.fetch(path, { token: ada }).then(async (response) => {
      isWaiting = false;
      return (await response.json()) as object;
    });
    await waitUntil(() => existsSync(mark));
    const { tools } = (await (await own.fetch('/tools', { token: bob })).json()) as { tools: object[] };
    expect(tools.length).toBeGreaterThan(1);
    expect(isWaiting).toBe(true);
    // The others are listed.
    expect(JSON.stringify(await waiting)).toContain('"fine"');
  });
});
