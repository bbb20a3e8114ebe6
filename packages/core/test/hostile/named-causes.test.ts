import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fixture, temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRuntime, record, textOf } from '../lifecycle/open-runtime.js';
import { answerAsOlder, ownHttpServer, sendJson } from '../lifecycle/own-http-server.js';
import { ownServer } from './own-server.js';

describe('a failure names its cause', () => {
  it.each([302, 307, 308])(
    'a redirect to another origin, which is not contacted (HTTP %s)',
    async (status) => {
      let asked = 0;
      const elsewhere = await ownHttpServer((_message, response) => {
        asked += 1;
        sendJson(response, {});
      });
      const url = await ownHttpServer((_message, response) =>
        response.writeHead(status, { location: elsewhere }).end(),
      );
      const runtime = await openRuntime({
        servers: { moved: { type: 'http', url, headers: { 'x-key': 'k' }, start: 'lazy' } },
      });
      await expect(runtime.connect('moved')).rejects.toMatchObject({
        code: 'CONNECT_FAILED',
        message: expect.stringContaining(new URL(elsewhere).origin),
        data: { status },
      });
      expect(asked).toBe(0);
    },
  );

  it('the same for a call', async () => {
    const url = await ownHttpServer((message, response) => {
      if (message.method !== 'tools/call') return answerAsOlder(message, response);
      response.writeHead(307, { location: 'http://127.0.0.2:9/mcp' }).end();
    });
    const runtime = await openRuntime({ servers: { moved: { type: 'http', url, era: 'legacy' } } });
    await expect(runtime.callTool('moved', 'good')).rejects.toMatchObject({
      message: expect.stringContaining('http://127.0.0.2:9'),
    });
  });

  it.each(['http', 'stdio'])('an unsupported revision (%s)', async (way) => {
    const url = await ownHttpServer((message, response) => {
      if (message.method !== 'initialize') return answerAsOlder(message, response);
      const result = {
        protocolVersion: '1999-01-01',
        capabilities: {},
        serverInfo: { name: 'x', version: '1' },
      };
      sendJson(response, { id: message.id, result });
    });
    const server =
      way === 'http'
        ? { type: 'http', url, start: 'lazy' as const }
        : { ...ownServer('flooding', 'none'), env: { REVISION: '1999-01-01' }, start: 'lazy' as const };
    const runtime = await openRuntime({ servers: { old: server } });
    await expect(runtime.connect('old')).rejects.toMatchObject({
      code: 'PROTOCOL_VIOLATION',
      message: expect.stringContaining('1999-01-01'),
    });
  });

  it('a working directory that does not exist', async () => {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    const cwd = join(directory.path, 'gone');
    const runtime = await openRuntime({ servers: { lost: { ...fixture('echo'), cwd, start: 'lazy' } } });
    await expect(runtime.connect('lost')).rejects.toMatchObject({
      code: 'COMMAND_NOT_FOUND',
      message: expect.stringContaining(`its working directory ${cwd}`),
      hint: expect.stringContaining('"cwd"'),
    });
  });

  it('a command that does not exist, though its working directory does', async () => {
    const servers = { lost: { command: 'no-such-program', cwd: process.cwd(), start: 'lazy' as const } };
    const runtime = await openRuntime({ servers });
    await expect(runtime.connect('lost')).rejects.toMatchObject({
      code: 'COMMAND_NOT_FOUND',
      message: expect.stringContaining('the command "no-such-program" was not found'),
      hint: expect.stringContaining('Install "no-such-program"'),
    });
  });

  it.each([
    ['does not exist', undefined, 'does not exist'],
    ['may not be run', { mode: 0o644, text: '#!/bin/sh\n' }, 'chmod +x'],
    ['has an invalid shebang', { mode: 0o755, text: '#!/no/such/shell\n' }, '(#!…)'],
  ])('a file that %s', async (_, made, hint) => {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    const command = join(directory.path, 'server.sh');
    if (made !== undefined) await writeFile(command, made.text, { mode: made.mode });
    const runtime = await openRuntime({ servers: { lost: { command, start: 'lazy' } } });
    await expect(runtime.connect('lost')).rejects.toMatchObject({
      code: 'COMMAND_NOT_FOUND',
      hint: expect.stringContaining(hint),
    });
  });
});

describe('a socket that answers one request late', () => {
  it('is not used again', async () => {
    const slipped = new WeakMap<object, number>();
    const url = await ownHttpServer((message, response, { socket }) => {
      const before = slipped.get(socket);
      if (message.params?.name === 'slip' || before !== undefined) {
        slipped.set(socket, message.id ?? 0);
        const result = { content: [{ type: 'text', text: 'of another' }] };
        return sendJson(response, { id: before ?? 7, result });
      }
      answerAsOlder(message, response, ['slip', 'good']);
    });
    const servers = { off: { type: 'http', url, era: 'legacy' as const, pingMs: 0 } };
    const runtime = await openRuntime({ servers });
    await runtime.connectAll();
    await expect(runtime.callTool('off', 'slip')).rejects.toMatchObject({ code: 'PROTOCOL_VIOLATION' });
    for (let round = 0; round < 5; round += 1)
      expect(textOf(await runtime.callTool('off', 'good'))).toBe('good');
  });
});

describe('tools above the limit', () => {
  it.each([
    [10, []],
    [11, ['tools the rest of the list is ignored because the list has more than 10 entries']],
    [1_500, ['tools the rest of the list is ignored because the list has more than 10 entries']],
  ])('are reported, also on one page (%s)', async (count, expected) => {
    const tools = Array.from({ length: count }, (_, index) => `tool${index}`);
    const url = await ownHttpServer((message, response) => answerAsOlder(message, response, tools));
    const runtime = await openRuntime({
      servers: { many: { type: 'http', url, era: 'legacy' } },
      limits: { maxToolsPerServer: 10 },
    });
    const dropped = record(runtime, 'catalog.dropped');
    await runtime.connectAll();
    expect(runtime.catalog.listByServer('many').length).toBe(10);
    expect(dropped.map(({ item, reason }) => `${item} ${reason}`)).toEqual(expected);
  });
});
