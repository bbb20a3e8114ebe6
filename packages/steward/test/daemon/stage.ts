/** A daemon with the steward, a registry of servers and a package registry, all on loopback. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Daemon, startDaemon } from '@turnbuckle/gateway';
import {
  type RegistryPackage,
  registryEntry,
  startMcpRegistry,
  startNpmRegistry,
  temporaryDirectory,
  waitUntil,
} from '@turnbuckle/testing';
import { createStewardPart } from '../../src/index.js';

export type Json = Record<string, unknown>;

/** A server of files, without dependencies: a tool that only reads, and one that writes. */
export const FILES_SERVER = `#!/usr/bin/env node
const { createInterface } = require('node:readline');
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
const object = (properties, required) => ({ type: 'object', properties, required });
const tools = [
  { name: 'count_words', description: 'Count the words of a text.', annotations: { readOnlyHint: true, openWorldHint: false },
    inputSchema: object({ text: { type: 'string', description: 'The text' } }, ['text']) },
  { name: 'whoami', description: 'Tell the key that it was given.', annotations: { readOnlyHint: true, openWorldHint: false },
    inputSchema: object({}, []) },
];
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'files', version: '1.0.0' } });
  else if (method === 'tools/list') answer(id, { tools });
  else if (method === 'tools/call')
    answer(id, { content: [{ type: 'text', text: params.name === 'whoami' ? String(process.env.FILES_KEY) : String(params.arguments.text.split(/\\s+/).length) }] });
  else if (id !== undefined)
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } }) + '\\n');
});
`;

export const filesPackage = (more: Partial<RegistryPackage> = {}): RegistryPackage => ({
  name: '@acme/server-files',
  version: '1.2.3',
  files: { 'bin/server.js': FILES_SERVER },
  ...more,
  manifest: { bin: { 'server-files': 'bin/server.js' }, ...more.manifest },
});

export const filesRecord = (more: Json = {}) =>
  registryEntry({
    name: 'io.github.acme/files',
    title: 'Files',
    description: 'Reads text files and counts their words.',
    version: '1.2.3',
    repository: 'https://github.com/acme/files',
    packages: [
      {
        registryType: 'npm',
        identifier: '@acme/server-files',
        version: '1.2.3',
        transport: { type: 'stdio' },
        ...more,
      },
    ],
  });

/** What the tests need of a daemon, in this process or in another one. */
export type StagedDaemon = Pick<Daemon, 'url' | 'token' | 'close'> & Partial<Pick<Daemon, 'configured'>>;

export interface DaemonPlace {
  readonly stateDir: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface StewardStage {
  readonly daemon: StagedDaemon;
  readonly home: Awaited<ReturnType<typeof temporaryDirectory>>;
  readonly npm: Awaited<ReturnType<typeof startNpmRegistry>>;
  readonly registry: Awaited<ReturnType<typeof startMcpRegistry>>;
  readonly packageRoot: string;
  readonly configFile: string;
  config(): Json;
  configure(config: Json): void;
  api(method: string, path: string, body?: unknown, token?: string): Promise<{ status: number; body: Json }>;
  request(type: string, params: Json, priority?: string): Promise<string>;
  status(id: string): Promise<Json>;
  /** Waits until the request has one of these states, or waits for approval. */
  until(id: string, ...states: string[]): Promise<Json>;
  approval(id: string): Promise<Json>;
  /** Says yes to everything that the request asks for, until it has ended. */
  approveAll(id: string, values?: Json): Promise<Json>;
  answer(approvalId: string, answer: 'yes' | 'no', values?: Json): Promise<{ status: number; body: Json }>;
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface StewardStageOptions {
  readonly packages?: readonly RegistryPackage[] | undefined;
  readonly records?: readonly unknown[] | undefined;
  readonly settings?: Json | undefined;
  readonly config?: Json | undefined;
  /** The clock of the daemon; that of the workers is the machine's. */
  readonly now?: (() => number) | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Starts the daemon elsewhere than in this process. */
  readonly open?: ((place: DaemonPlace) => Promise<StagedDaemon>) | undefined;
}

export async function openStewardStage(options: StewardStageOptions = {}): Promise<StewardStage> {
  const home = await temporaryDirectory();
  const npm = await startNpmRegistry({ packages: options.packages ?? [filesPackage()] });
  const registry = await startMcpRegistry({ records: options.records ?? [filesRecord()] });
  const configFile = home.file('config/turnbuckle/mcp.json');
  mkdirSync(dirname(configFile), { recursive: true });
  const configure = (config: Json): void => writeFileSync(configFile, JSON.stringify(config, null, 2));
  configure({
    steward: {
      workers: 1,
      registries: [{ url: registry.url }],
      npmRegistry: npm.url,
      allow: [{ type: 'npm', scope: '@acme' }],
      ...options.settings,
    },
    ...options.config,
  });
  const environment = {
    PATH: process.env.PATH,
    HOME: home.path,
    XDG_CONFIG_HOME: home.file('config'),
    ...options.environment,
  };
  const stateDir = home.file('state');
  const place: DaemonPlace = { stateDir, cwd: home.path, environment };
  const open = (): Promise<StagedDaemon> =>
    options.open?.(place) ??
    startDaemon({
      version: '0.0.0',
      ...place,
      port: 0,
      parts: [createStewardPart({ cwd: home.path, now: options.now })],
    });
  let daemon = await open();
  const stage: StewardStage = {
    get daemon() {
      return daemon;
    },
    home,
    npm,
    registry,
    packageRoot: home.file('state-servers'),
    configFile,
    config: () => (existsSync(configFile) ? (JSON.parse(readFileSync(configFile, 'utf8')) as Json) : {}),
    configure,
    api: async (method, path, body, token = daemon.token) => {
      const response = await fetch(daemon.url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Json };
    },
    request: async (type, params, priority) => {
      const { body } = await stage.api('POST', '/api/steward/requests', {
        type,
        params,
        ...(priority !== undefined && { priority }),
      });
      return String(body.requestId);
    },
    status: async (id) => (await stage.api('GET', `/api/steward/requests/${id}`)).body,
    until: async (id, ...states) => {
      let last: Json = {};
      await waitUntil(async () => {
        last = await stage.status(id);
        return states.includes(String(last.state)) || states.includes(String(last.waitingFor));
      }, 60_000);
      return last;
    },
    approval: async (id) => {
      await stage.until(id, 'approval', 'failed', 'completed');
      const { body } = await stage.api('GET', '/api/steward/approvals');
      const found = (body.approvals as Json[]).find(({ requestId }) => requestId === id);
      if (found === undefined) throw new Error(JSON.stringify(await stage.status(id)));
      return found;
    },
    approveAll: async (id, values) => {
      for (let given = values; ; given = undefined) {
        const status = await stage.until(id, 'approval', 'completed', 'failed', 'cancelled');
        if (status.waitingFor !== 'approval') return status;
        // It may have been cancelled meanwhile.
        const { body } = await stage.api('GET', '/api/steward/approvals');
        const found = (body.approvals as Json[]).find(({ requestId }) => requestId === id);
        if (found !== undefined) await stage.answer(String(found.id), 'yes', given);
      }
    },
    answer: (approvalId, answer, values) =>
      stage.api('POST', `/api/steward/approvals/${approvalId}`, {
        answer,
        ...(values !== undefined && { values }),
      }),
    restart: async () => {
      await daemon.close(1_000);
      daemon = await open();
    },
    close: async () => {
      await daemon.close(1_000);
      await Promise.all([npm.stop(), registry.stop()]);
      await home.remove();
    },
  };
  return stage;
}
