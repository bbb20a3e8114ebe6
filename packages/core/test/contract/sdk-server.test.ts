import { temporaryDirectory } from '@turnbuckle/testing';
import { makeSdkServer } from '@turnbuckle/testing/sdk-server';
import { createRuntime } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import { openFetch, openNetwork, openStdio } from './ports.js';
import type { OpenPort } from './setting.js';
import { textOf } from './text-of.js';

const WAYS: Record<string, OpenPort> = {
  'an object in this process': async () => ({
    config: { type: 'in-process', server: makeSdkServer() },
    close: async () => {},
  }),
  'a factory in this process': async () => ({
    config: { type: 'in-process', server: makeSdkServer },
    close: async () => {},
  }),
  'a fetch endpoint': openFetch,
  stdio: openStdio,
  http: openNetwork('http'),
};

describe.each(Object.entries(WAYS))("the official SDK's server as %s", (_, open) => {
  it.each([true, false])('lists and answers (express lane: %s)', async (expressLane) => {
    const port = await open('sdk-echo');
    const home = await temporaryDirectory();
    const runtime = await createRuntime({ servers: { sdk: port.config }, expressLane, stateDir: home.path });
    try {
      await runtime.connectAll();
      expect(runtime.serverStatus('sdk')).toMatchObject({ status: 'connected', error: undefined });
      expect(runtime.tools().map(({ tool }) => tool)).toEqual(['add', 'echo', 'fail']);
      expect(textOf(await runtime.callTool('sdk', 'echo', { text: 'ż' }))).toBe('ż');
      expect((await runtime.callTool('sdk', 'add', { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 });
      expect((await runtime.callTool('sdk', 'fail')).isError).toBe(true);
    } finally {
      await runtime.close();
      await port.close();
      await home.remove();
    }
  });
});
