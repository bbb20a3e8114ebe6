import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type TemporaryDirectory, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { createConfiguredRuntime, type Runtime, type RuntimeEvents } from 'turnbuckle';
import { createVault } from 'turnbuckle/host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Canaries, everythingIn } from './canaries.js';

const SERVER = fileURLToPath(new URL('canary-server.mjs', import.meta.url));
const CRASH = fileURLToPath(new URL('canary-crash.mjs', import.meta.url));
const PASSPHRASE_PLACE = 'passphrase of the vault';

const EVENTS = Object.keys({
  'call.started': 1,
  'call.settled': 1,
  'call.progress': 1,
  'call.decided': 1,
  'energy.refused': 1,
  'energy.low': 1,
  'approval.asked': 1,
  'approval.answered': 1,
  'approval.lost': 1,
  'tool.changed': 1,
  'server.state': 1,
  'server.failed': 1,
  'server.recovered': 1,
  'server.added': 1,
  'server.removed': 1,
  'server.config': 1,
  'server.toggled': 1,
  'server.asked': 1,
  'server.notice': 1,
  'server.ignored': 1,
  'server.stderr': 1,
  'catalog.read': 1,
  'catalog.changed': 1,
  'catalog.flagged': 1,
  'catalog.dropped': 1,
  'capability.ambiguous': 1,
  'resource.updated': 1,
  'listener.failed': 1,
} satisfies Record<keyof RuntimeEvents, 1>) as (keyof RuntimeEvents)[];

const canaries = new Canaries();
/** All output, by channel. */
const out = new Map<string, string>();
const note = (where: string, value: unknown): void =>
  void out.set(where, `${out.get(where) ?? ''}\n${typeof value === 'string' ? value : everythingIn(value)}`);
const noteFailure = async (where: string, work: Promise<unknown>): Promise<void> => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error !== undefined) note(where, error);
};

/** Answers every request with a copy of it, in the body and in headers. */
async function startMirror(status: number): Promise<{ server: Server; port: number; requests: string[] }> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      const { authorization = '' } = request.headers;
      const basic = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString('latin1');
      const told = JSON.stringify({ url: request.url, headers: request.headers, basic });
      requests.push(told);
      const { id = null } = body.startsWith('{') ? JSON.parse(body) : {};
      const header = encodeURIComponent(told).slice(0, 4_000);
      response.writeHead(status, {
        'content-type': 'application/json',
        'x-told': header,
        'www-authenticate': `Bearer realm="${header}", error_description="${header}"`,
      });
      response.end(
        JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_000, message: told, data: { told } } }),
      );
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port, requests };
}

const stdio = (behaviour: 'stay' | 'exit', more: Record<string, unknown> = {}) => ({
  command: process.execPath,
  reconnect: { tries: 0, probeMs: 0 },
  ...more,
  args: [SERVER, behaviour, ...((more.args as string[] | undefined) ?? [])],
});

/** Servers with a secret in every place that can hold one. */
function entries(home: TemporaryDirectory, ports: Readonly<Record<'refusing' | 'failing', number>>) {
  const at = (port: number, more = ''): string => `http://127.0.0.1:${port}/mcp${more}`;
  const once = { reconnect: { tries: 0, probeMs: 0 } };
  return {
    gone: {
      command: '/nonexistent/program',
      args: [
        '--token',
        canaries.place('argument after a flag'),
        `--api-key=${canaries.place('argument with =')}`,
      ],
      env: { API_TOKEN: canaries.place('env of a command that is not there') },
    },
    ends: stdio('exit', {
      args: [
        canaries.place('argument alone', 'token'),
        `postgres://u:${canaries.place('argument: address', 'token')}@host/db`,
      ],
      env: {
        SEEN_FILE: home.file('seen-ends'),
        DB_PASSWORD: canaries.place('env by name'),
        GREETING: canaries.place('env by look', 'token'),
        NOT_QUITE: `prefix \${secret:inside}`,
      },
    }),
    stays: stdio('stay', {
      env: {
        SEEN_FILE: home.file('seen-stays'),
        FROM_VAULT: '${secret:vaulted}',
        FROM_ENVIRONMENT: '${secret:given}',
        FROM_COMMAND: '${secret:commanded}',
        FROM_INPUT: '${input:asked}',
        FROM_VARIABLE: '${HOST_TOKEN}',
        FROM_DEFAULT: `\${NOT_THERE:-${canaries.place('default of a placeholder', 'token')}}`,
        PEM: canaries.place('env with lines', 'token'),
      },
      args: ['${secret:argument}'],
    }),
    neighbour: stdio('stay', { env: { SEEN_FILE: home.file('seen-neighbour') } }),
    refuses: {
      ...once,
      url: at(
        ports.refusing,
        `?token=${canaries.place('query by name', 'token')}&k=${canaries.place('query by look', 'token')}`,
      ),
      headers: {
        Authorization: `Bearer ${canaries.place('authorization header', 'token')}`,
        'X-Custom': canaries.place('header by look', 'token'),
        Cookie: `session=${canaries.place('cookie', 'token')}`,
      },
    },
    fails: {
      ...once,
      url: `http://user:${canaries.place('password of an address', 'token')}@127.0.0.1:${ports.failing}/s/${canaries.place('path of an address', 'token')}/mcp`,
      headers: { 'X-Api-Key': canaries.place('header by name', 'token') },
    },
    socket: {
      ...once,
      url: `ws://127.0.0.1:${ports.failing}/?access_token=${canaries.place('websocket query', 'token')}`,
      headers: { 'X-Secret': canaries.place('websocket header', 'token') },
    },
    old: {
      ...once,
      type: 'sse',
      url: at(ports.failing),
      headers: { 'X-Token': canaries.place('sse header', 'token') },
    },
    hosted: {
      ...once,
      type: 'proxy',
      baseUrl: at(ports.failing),
      id: 'x',
      token: canaries.place('proxy token', 'token'),
    },
    keyed: {
      ...once,
      url: at(ports.failing),
      auth: { type: 'api-key', apiKey: canaries.place('auth: api key', 'token') },
    },
    bearing: {
      ...once,
      url: at(ports.refusing),
      auth: { type: 'bearer', token: canaries.place('auth: bearer', 'token') },
    },
    filed: {
      ...once,
      url: at(ports.failing),
      auth: { type: 'token-file', tokenPath: home.file('token'), headerName: 'X-Plain' },
    },
    machine: {
      ...once,
      url: at(ports.refusing),
      auth: {
        type: 'client-credentials',
        clientId: 'me',
        clientSecret: canaries.place('auth: client secret', 'token'),
        tokenUrl: at(ports.failing),
      },
    },
    wrong: {
      url: '${secret:notAnAddress}',
      headers: { 'X-Key': canaries.place('header of a wrong server') },
    },
    wrongType: {
      command: 'x',
      env: { A: 1, B: canaries.place('env beside a mistake') },
      token: canaries.place('key that is unknown'),
    },
  };
}

let home: TemporaryDirectory;
let runtime: Runtime;
let mirrors: Array<Awaited<ReturnType<typeof startMirror>>> = [];

beforeAll(async () => {
  home = await temporaryDirectory();
  mirrors = [await startMirror(401), await startMirror(500)];
  const [refusing = { port: 0 }, failing = { port: 0 }] = mirrors;
  const environment = {
    PATH: process.env.PATH,
    HOME: home.path,
    TURNBUCKLE_KEYCHAIN: 'off',
    TURNBUCKLE_PASSPHRASE: canaries.place(PASSPHRASE_PLACE),
    TURNBUCKLE_SECRET_GIVEN: canaries.place('secret of the environment'),
    TURNBUCKLE_SECRET_INSIDE: canaries.place('secret inside of a text', 'token'),
    HOST_TOKEN: canaries.place('variable of the host'),
    UNUSED_KEY: canaries.place('variable that no server names'),
  };
  const stateDir = home.file('state');
  const vault = createVault({ stateDir, environment });
  await vault.set('secret/vaulted', canaries.place('secret of the vault'));
  await vault.set('secret/argument', canaries.place('secret as an argument'));
  await vault.set('secret/notAnAddress', canaries.place('secret that makes a server wrong'));
  await vault.set('oauth/default/x', canaries.place('sign-in in the vault'));
  await writeFile(home.file('token'), canaries.place('auth: token file', 'token'));
  await writeFile(home.file('printed'), `${canaries.place('secret of a command')}\n`);
  const file = home.file('mcp.json');
  const config = {
    secretCommand: ['cat', home.file('printed')],
    inputs: [{ id: 'asked', password: true }],
    servers: entries(home, { refusing: refusing.port, failing: failing.port }),
  };
  await writeFile(file, JSON.stringify(config));
  const typed = canaries.place('input of a person');
  const configured = await createConfiguredRuntime({
    cwd: home.path,
    environment,
    stateDir,
    files: [file],
    askInput: async () => typed,
  });
  runtime = configured.runtime;
  for (const problem of configured.config().problems) note('problems of the file', problem);
  for (const name of EVENTS)
    runtime.on(name, (event) => {
      // Results are not redacted by default: they belong to the caller.
      const { result: _result, ...told } = event as Record<string, unknown>;
      note(`event ${name}`, told);
    });
}, 60_000);

afterAll(async () => {
  await runtime.close();
  for (const { server } of mirrors) server.close();
  await home.remove();
});

describe('more than 30 secrets, one in every place that can hold one', () => {
  it('are used by every operation', { timeout: 120_000 }, async () => {
    note('status before', runtime.status());
    await runtime.connectAll();
    note('status', runtime.status());
    const names = runtime.status().map(({ name }) => name);
    expect(names).toContain('wrongType');
    for (const name of names) {
      note('status of one', runtime.serverStatus(name));
      await noteFailure('connect', runtime.connect(name));
      await noteFailure('reconnect', runtime.reconnect(name));
      await noteFailure('ping', runtime.ping(name));
      await noteFailure('refresh', runtime.refresh(name));
      await noteFailure('call', runtime.callTool(name, 'leak', {}));
      note('execute', await runtime.execute(`mcp__${name}__leak`));
      await noteFailure('resources', runtime.listResources(name));
      await noteFailure('templates', runtime.listResourceTemplates(name));
      await noteFailure('read', runtime.readResource(name, 'canary://x'));
      await noteFailure('prompt', runtime.getPrompt(name, 'x'));
      await noteFailure(
        'subscribe',
        runtime.subscribeResource(name, 'canary://x', () => {}),
      );
      note('sign-in', await runtime.signInStatus(name).catch((error: unknown) => error));
      await noteFailure('sign in', runtime.signIn(name));
    }
    await noteFailure('call that ends the server', runtime.callTool('stays', 'quit', {}));
    await waitUntil(() => runtime.serverStatus('stays').recentErrors.length > 0);
    note('status after', runtime.status());
    expect(canaries.count).toBeGreaterThanOrEqual(30);
  });

  it('reach the servers they are configured for', async () => {
    const seen = async (name: string): Promise<string[]> =>
      canaries.plainlyIn(
        JSON.parse(`[${(await readFile(home.file(name), 'utf8')).split('\n')[0]}]`)
          .map(everything)
          .join(),
      );
    const everything = (value: { env: Record<string, string>; args: string[] }): string =>
      [...Object.values(value.env), ...value.args].join('\n');
    expect(await seen('seen-ends')).toEqual([
      'secret inside of a text',
      'argument alone',
      'argument: address',
      'env by name',
      'env by look',
    ]);
    expect(await seen('seen-stays')).toEqual([
      'secret of the environment',
      'variable of the host',
      'secret of the vault',
      'secret as an argument',
      'secret of a command',
      'default of a placeholder',
      'env with lines',
      'input of a person',
    ]);
    const sent = mirrors.flatMap(({ requests }) => requests).join('\n');
    for (const where of [
      'authorization header',
      'cookie',
      'query by name',
      'header by name',
      'proxy token',
      'auth: api key',
      'auth: token file',
    ])
      expect(canaries.plainlyIn(sent), where).toContain(where);
  });

  it('appear in no other output', () => {
    expect([...out.keys()].length).toBeGreaterThan(20);
    const leaks = [...out].flatMap(([where, text]) =>
      canaries.foundIn(text).map((place) => `${place} -> ${where}`),
    );
    expect(leaks).toEqual([]);
    // Otherwise no server repeated a secret, and the search proves nothing.
    for (const where of [
      'status',
      'call',
      'event server.stderr',
      'event server.notice',
      'event server.failed',
    ])
      expect(out.get(where), where).toContain('[redacted]');
  });

  it('are not in the environment or the command line of another server', async () => {
    const own = await readFile(home.file('seen-neighbour'), 'utf8');
    expect(canaries.foundIn(own)).toEqual([]);
    const { pid } = runtime.serverStatus('neighbour');
    if (process.platform !== 'linux' || pid === undefined) return;
    for (const name of ['environ', 'cmdline'])
      expect(canaries.foundIn(await readFile(`/proc/${pid}/${name}`, 'latin1'))).toEqual([]);
  });

  it('are in no file of the state directory in a readable form', async () => {
    const names = await readdir(home.file('state'), { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    expect(files).toContain(home.file('state/vault.json'));
    for (const file of files) expect(canaries.foundIn(await readFile(file, 'latin1')), file).toEqual([]);
  });

  it('are not in the output of a crash', { timeout: 60_000 }, async () => {
    for (const server of ['gone', 'ends', 'fails', 'wrong']) {
      const crash = await promisify(execFile)(process.execPath, [CRASH, home.file('mcp.json'), server], {
        env: {
          PATH: process.env.PATH,
          HOME: home.path,
          TURNBUCKLE_KEYCHAIN: 'off',
          TURNBUCKLE_SECRET_INSIDE: 'inside-of-a-crash-1',
          TURNBUCKLE_SECRET_NOTANADDRESS: 'not-an-address-1',
        },
      }).catch((error: { stderr: string; stdout: string }) => error);
      expect(crash.stderr, server).toContain('TurnbuckleError');
      expect(canaries.foundIn(crash.stderr + crash.stdout), server).toEqual([]);
      expect(crash.stderr).not.toMatch(/inside-of-a-crash|not-an-address/);
    }
  });
});
