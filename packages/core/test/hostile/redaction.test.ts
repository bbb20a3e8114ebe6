import { describe, expect, it } from 'vitest';
import { createOwnRuntime } from './own-runtime.js';

const SECRET = 'hunter2-very-secret';
const lazy = { start: 'lazy' } as const;

describe('the configuration in status()', () => {
  it('has the names of secrets, and none of their values', async () => {
    const runtime = await createOwnRuntime({
      servers: {
        local: {
          ...lazy,
          command: 'server',
          args: ['--token', SECRET, `--api-key=${SECRET}`, '--verbose', `API_TOKEN=${SECRET}`],
          env: { API_KEY: SECRET },
        },
        remote: {
          ...lazy,
          type: 'http',
          url: `https://user:${SECRET}@host.invalid/mcp?key=${SECRET}&page=1`,
          headers: { Authorization: `Bearer ${SECRET}`, 'X-Key': SECRET },
        },
        socket: { ...lazy, type: 'websocket', url: `wss://host.invalid/?token=${SECRET}` },
        hosted: { ...lazy, type: 'proxy', baseUrl: `https://${SECRET}@host.invalid`, id: 'x', token: SECRET },
      },
    });
    try {
      const text = JSON.stringify(runtime.status());
      expect(text).not.toContain(SECRET);
      expect(text).toContain('host.invalid');
      expect(runtime.serverStatus('local').config).toMatchObject({
        command: 'server',
        env: { API_KEY: '[redacted]' },
        args: ['--token', '[redacted]', '--api-key=[redacted]', '--verbose', 'API_TOKEN=[redacted]'],
      });
      expect(runtime.serverStatus('remote').config).toMatchObject({
        headers: { Authorization: '[redacted]', 'X-Key': '[redacted]' },
      });
      expect(runtime.serverStatus('hosted').config).toMatchObject({ token: '[redacted]' });
    } finally {
      await runtime.close();
    }
  });

  it('does not leak a secret into an error either', async () => {
    const servers = {
      remote: {
        type: 'http',
        url: `http://user:${SECRET}@127.0.0.1:9/mcp?key=${SECRET}`,
        headers: { 'X-Key': SECRET },
        reconnect: { tries: 0, probeMs: 0 },
      },
      local: { command: `/nonexistent/server`, args: ['--token', SECRET], env: { KEY: SECRET } },
    };
    const runtime = await createOwnRuntime({ servers });
    try {
      await runtime.connectAll();
      expect(runtime.status().map(({ status }) => status)).toEqual(['failed', 'failed']);
      expect(JSON.stringify(runtime.status())).not.toContain(SECRET);
    } finally {
      await runtime.close();
    }
  });
});
