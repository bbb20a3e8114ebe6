import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fixture, type TemporaryDirectory, temporaryDirectory } from '@turnbuckle/testing';
import { createConfiguredRuntime } from 'turnbuckle';
import { type LoadedConfig, loadConfiguration } from 'turnbuckle/host';
import { beforeEach, describe, expect, it } from 'vitest';
import { adjust } from '../../src/config/layers/adjust.js';
import { trustHash } from '../../src/config/trust/trust.js';

let directory: TemporaryDirectory;
beforeEach(async () => {
  directory = await temporaryDirectory();
});

async function write(file: string, servers: Readonly<Record<string, unknown>>): Promise<void> {
  await mkdir(dirname(directory.file(file)), { recursive: true });
  await writeFile(directory.file(file), JSON.stringify({ servers }));
}

const options = () => ({
  cwd: directory.path,
  environment: { HOME: directory.path, PATH: process.env.PATH, XDG_CONFIG_HOME: directory.file('.config') },
  stateDir: directory.file('state'),
});
const mayAsk = ({ servers }: LoadedConfig): unknown => servers.get('asker')?.config?.mayAsk;

describe('a server from a file', () => {
  it('may request nothing that its file does not name, whatever the host supports', async () => {
    const seen: string[] = [];
    await write('.config/turnbuckle/mcp.json', {
      quiet: fixture('asking'),
      loud: { ...fixture('asking'), mayAsk: ['elicitation'] },
    });
    const { runtime } = await createConfiguredRuntime({
      ...options(),
      handlers: {
        elicitation: ({ server }) => {
          seen.push(server);
          return { action: 'decline' };
        },
        roots: () => ({ roots: [] }),
      },
    });
    try {
      for (const server of ['quiet', 'loud']) {
        const { content } = await runtime.callTool(server, 'offered');
        expect(content).toEqual([
          { type: 'text', text: server === 'quiet' ? '{}' : expect.stringContaining('form') },
        ]);
      }
      const params = { message: 'x', requestedSchema: { type: 'object', properties: {} } };
      const ask = { kind: 'elicitation', params, rude: true };
      await expect(runtime.callTool('quiet', 'ask', ask)).rejects.toMatchObject({ code: 'INPUT_REQUIRED' });
      await runtime.callTool('loud', 'ask', ask);
      expect(seen).toEqual(['loud']);
    } finally {
      await runtime.close();
    }
  });

  it('cannot be allowed more by a project', async () => {
    await write('.config/turnbuckle/mcp.json', {
      asker: { ...fixture('asking'), mayAsk: ['roots', 'sampling'] },
    });
    await write('.turnbuckle/mcp.json', { asker: { mayAsk: ['roots', 'elicitation'] } });
    expect(mayAsk(await loadConfiguration(options()))).toEqual(['roots']);
    await write('.config/turnbuckle/mcp.json', { asker: fixture('asking') });
    expect(mayAsk(await loadConfiguration(options()))).toEqual([]);
  });

  it('of a project needs agreement again when mayAsk is added', () => {
    const subject = { name: 'asker', directory: '/p', entry: { command: 'x' } };
    const asking = { ...subject, entry: { command: 'x', mayAsk: ['elicitation'] } };
    expect(trustHash(asking)).not.toBe(trustHash(subject));
  });

  it('may be allowed more by its user', () => {
    expect(adjust({ command: 'x' }, { mayAsk: ['roots'] })).toMatchObject({
      mayAsk: ['roots'],
    });
  });

  it('with an unknown value in mayAsk is rejected', async () => {
    await write('.config/turnbuckle/mcp.json', { asker: { ...fixture('asking'), mayAsk: ['everything'] } });
    const { servers } = await loadConfiguration(options());
    expect(servers.get('asker')?.problem).toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
