import { readFile } from 'node:fs/promises';
import { startFixture, temporaryDirectory } from '@turnbuckle/testing';
import { createRuntime } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import { textOf } from './text-of.js';

describe.each([true, false])('HTTP sessions (express lane: %s)', (expressLane) => {
  it('gets a new session when the server has forgotten it, and repeats the call once', async () => {
    const home = await temporaryDirectory();
    const effects = home.file('effects');
    const flags = ['--era', 'legacy', '--forget-after', '4', '--counter-file', effects];
    const web = await startFixture('echo', { transport: 'http', flags });
    const servers = { web: { type: 'http', url: web.url } };
    const runtime = await createRuntime({ servers, expressLane, stateDir: home.path });
    try {
      await runtime.connectAll();
      const attempts: number[] = [];
      runtime.on('call.settled', (call) => attempts.push(call.attempts));
      for (let call = 1; call <= 5; call += 1)
        expect(textOf(await runtime.callTool('web', 'count'))).toBe(String(call));
      expect((await readFile(effects, 'utf8')).trim().split('\n')).toHaveLength(5);
      expect(Math.max(...attempts)).toBe(2);
      expect(runtime.serverStatus('web').status).toBe('connected');
    } finally {
      await runtime.close();
      await web.stop();
      await home.remove();
    }
  });

  it('works without sessions', async () => {
    const home = await temporaryDirectory();
    const web = await startFixture('echo', { transport: 'http', flags: ['--era', 'legacy', '--stateless'] });
    const servers = { web: { type: 'http', url: web.url } };
    const runtime = await createRuntime({ servers, expressLane, stateDir: home.path });
    try {
      await runtime.connectAll();
      expect(textOf(await runtime.callTool('web', 'echo', { text: 'stateless' }))).toBe('stateless');
    } finally {
      await runtime.close();
      await web.stop();
      await home.remove();
    }
  });

  // requirement C2
  it('falls back to SSE for a server that supports nothing else', async () => {
    const home = await temporaryDirectory();
    const old = await startFixture('echo', { transport: 'sse', flags: ['--era', 'legacy'] });
    const servers = { old: { type: 'http', url: old.url } };
    const runtime = await createRuntime({ servers, expressLane, stateDir: home.path });
    try {
      await runtime.connectAll();
      expect(runtime.serverStatus('old')).toMatchObject({ status: 'connected', transport: 'sse' });
      expect(textOf(await runtime.callTool('old', 'echo', { text: 'old' }))).toBe('old');
    } finally {
      await runtime.close();
      await old.stop();
      await home.remove();
    }
  });
});
