import { createRuntime } from 'turnbuckle';
import { describe, expect, it } from 'vitest';

describe('a NUL in a configuration', () => {
  it.each([
    ['env', { command: 'node', env: { KEY: 'secret\0value' } }],
    ['args', { command: 'node', args: ['secret\0value'] }],
    ['headers', { url: 'http://127.0.0.1:9/', headers: { key: 'secret\0value' } }],
  ])('is refused in %s without repeating the value', async (key, server) => {
    const runtime = await createRuntime({ servers: { bad: server } });
    const { error } = runtime.serverStatus('bad');
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' });
    expect(error?.message).toContain(key);
    expect(JSON.stringify(error)).not.toContain('secret');
    await runtime.close();
  });
});
