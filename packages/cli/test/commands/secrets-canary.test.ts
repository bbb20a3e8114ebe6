import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/commands.js';
import { createHome, type Home, turnbuckle } from './turnbuckle.js';

/** A server that repeats every secret it was given: on stderr, in notifications, in errors. */
const LEAKING = fileURLToPath(new URL('../../../core/test/auth/canary-server.mjs', import.meta.url));

const placed = new Map<string, string>();
const place = (where: string, form = (random: string) => `canary-${random}`): string => {
  const secret = form(randomBytes(12).toString('hex'));
  placed.set(where, secret);
  return secret;
};
const wordy = (random: string): string => `${random.slice(0, 8)} "quoted" and more ${random.slice(8)}`;

function foundIn(text: string): string[] {
  return [...placed]
    .filter(([, secret]) =>
      [
        secret,
        secret.slice(0, 15),
        encodeURIComponent(secret),
        Buffer.from(secret).toString('base64').slice(0, -4),
      ].some((one) => text.includes(one) || text.includes(JSON.stringify(one).slice(1, -1))),
    )
    .map(([where]) => where);
}

const once = { reconnect: { tries: 0, probeMs: 0 } };
const leaking = (behaviour: string, env: Record<string, string>, ...args: string[]) => ({
  ...once,
  command: process.execPath,
  args: [LEAKING, behaviour, ...args],
  env,
});

let home: Home;
let env: Record<string, string>;
const out = new Map<string, string>();

async function run(line: string, stdin = ''): Promise<void> {
  const { stdout, stderr } = await turnbuckle(line.split(' '), { home, stdin, env });
  out.set(line, `${stdout}\n${stderr}`);
}

beforeAll(async () => {
  home = await createHome({
    ends: leaking(
      'exit',
      { DB_PASSWORD: place('env by name', wordy), GREETING: place('env by look'), KEPT: '${secret:kept}' },
      '--token',
      place('argument after a flag'),
      place('argument alone'),
    ),
    stays: leaking('stay', {
      REPEATS_IN_LISTS: 'yes',
      FROM_VAULT: '${secret:kept}',
      FROM_ENVIRONMENT: '${secret:given}',
      FROM_INPUT: '${input:asked}',
      FROM_VARIABLE: '${HOST_TOKEN}',
    }),
    gone: {
      command: '/nonexistent/x',
      args: [`--api-key=${place('argument with =')}`],
      env: { K: place('env of nothing') },
    },
    remote: {
      ...once,
      url: `http://user:${place('password of an address')}@127.0.0.1:9/${place('path of an address')}/mcp?token=${place('query')}`,
      headers: {
        Authorization: `Bearer ${place('authorization header')}`,
        'X-Plain': place('header', wordy),
      },
    },
    keyed: {
      ...once,
      url: 'http://127.0.0.1:9/mcp',
      auth: { type: 'api-key', apiKey: place('auth: api key') },
    },
    hosted: { ...once, type: 'proxy', baseUrl: 'http://127.0.0.1:9/', id: 'x', token: place('proxy token') },
    wrong: {
      url: 7,
      headers: { 'X-Key': place('header of a wrong server') },
      env: place('env that is no map'),
    },
    filled: { url: '${secret:kept}' },
  });
  await home.write('.config/turnbuckle/mcp.json', {
    ...JSON.parse(await home.read('.config/turnbuckle/mcp.json')),
    steward: { registries: [{ file: 'registry.json' }] },
    agent: {
      model: {
        provider: 'openai-compatible',
        baseUrl: 'http://127.0.0.1:9/v1',
        model: 'any',
        apiKey: place('key of the model'),
      },
    },
  });
  await home.write('.config/turnbuckle/registry.json', { servers: [] });
  await home.write('.cursor/mcp.json', {
    mcpServers: {
      theirs: {
        command: 'notes',
        args: ['--password', place('argument of another tool')],
        env: { ANY: place('env of another tool', wordy) },
      },
    },
  });
  env = {
    // The server prints its environment, and the output is cut: where must not depend on who runs the tests.
    PATH: '/usr/bin:/bin',
    TURNBUCKLE_KEYCHAIN: 'off',
    TURNBUCKLE_PASSPHRASE: place('passphrase', wordy),
    TURNBUCKLE_SECRET_GIVEN: place('secret of the environment', wordy),
    TURNBUCKLE_INPUT_ASKED: place('input'),
    HOST_TOKEN: place('variable of the host', wordy),
  };
}, 60_000);
afterAll(() => home.remove());

const LINES: Readonly<Record<string, readonly string[]>> = {
  secrets: ['list', 'list --json', 'list --verbose'],
  list: ['', '--json', '--verbose', '--no-connect --json'],
  doctor: ['', '--json', '--verbose'],
  config: ['', '--json', 'ends', 'remote --json', 'wrong'],
  tools: ['', '--json --verbose', 'stays', 'stays --schema', 'stays leak --ts'],
  call: [
    'stays leak',
    'stays leak --json',
    'stays quit --verbose',
    'ends leak --verbose',
    'remote x --json --verbose',
  ],
  resources: ['stays', '--verbose', 'stays --json'],
  read: ['stays a:b --verbose'],
  prompts: ['stays', '--json'],
  prompt: ['stays x --verbose'],
  ping: ['ends --verbose', 'gone --json', 'remote', 'filled --verbose', 'wrong', 'hosted'],
  logs: ['stays --seconds 1', 'ends --seconds 1 --json'],
  whoami: ['', '--json'],
  login: ['remote --no-browser', 'keyed --json'],
  logout: ['remote'],
  import: ['', '--yes', '--json', '--undo'],
  export: ['--to cursor', '--to cursor --yes', '--to codex --yes --json', '--undo'],
  trust: ['', '--json'],
  enable: ['ends --json'],
  disable: ['gone'],
  remove: ['gone --json'],
  schema: [''],
  calls: ['', '--json --verbose'],
  incidents: ['', 'stays', '--json'],
  stats: ['--json'],
  energy: ['', '--json'],
  search: ['files', 'files --json --verbose'],
  chat: ['hello --verbose', '--list --json'],
  steward: ['', 'list --json', 'request test stays', 'request remove gone --json', 'approvals --verbose'],
  // The calls between its start and its end go through the daemon.
  serve: ['status', 'start --port 0 --verbose', 'status --json', 'stop'],
  bridge: ['--port 70000 --verbose'],
  token: ['list --json', 'list'],
  approvals: ['--verbose'],
  setup: ['', 'cursor', 'cursor --yes', 'codex --yes --json', 'cursor --undo'],
};
const ATTACHED = [
  'call stays leak --verbose',
  'call ends leak --json',
  'list --json --verbose',
  'tools --json',
  'tools stays --schema',
  'tools stays --ts',
  'resources stays --json',
  'prompts stays',
  'ping ends --json',
  'read stays a:b',
  'calls --json',
  'calls --search leak',
  'stats --json',
  'incidents --json',
  'incidents',
  'energy --json',
  'chat --list --json',
  'steward list --json --verbose',
  'steward request test stays --wait',
  'steward approvals --json',
];
/** These run one after the other, after all others. */
const CHANGING = /^(import|export|trust|enable|disable|remove|login|logout|serve|setup)\b/;
/** These print nothing about servers, or have their own test. */
const ELSEWHERE = ['add', 'init', 'completion'];

describe('every command, with a secret in every place that can hold one', () => {
  it('runs', { timeout: 300_000 }, async () => {
    await run('secrets set kept', place('secret of the vault', wordy));
    const lines = Object.entries(LINES).flatMap(([command, all]) =>
      all.map((words) => `${command} ${words}`.trim()),
    );
    const reading = lines.filter((line) => !CHANGING.test(line));
    const lane = async (): Promise<void> => {
      for (let line = reading.shift(); line !== undefined; line = reading.shift()) await run(line);
    };
    await Promise.all([lane(), lane(), lane()]);
    for (const line of lines.filter((one) => CHANGING.test(one))) {
      await run(line);
      if (line.startsWith('serve start')) for (const one of ATTACHED) await run(one);
    }
    await run(`add more -e KEY=${place('argument of add')} --json -- cmd`);
    await run(`add bad -e ${place('argument that is wrong')} -- cmd`);
    await run(`secrets set kept ${place('argument of secrets set')}`);
    const [mine, known] = [[...Object.keys(LINES), ...ELSEWHERE], COMMANDS.map(({ name }) => name)];
    expect(
      known.filter((name) => !mine.includes(name) && !['rules', 'approvals', 'pins'].includes(name)),
    ).toEqual([]);
  });

  it('prints no secret', () => {
    // An invalid argument is repeated in the error, so that it can be corrected: it is on the screen already.
    const leaks = [...out].flatMap(([line, text]) =>
      foundIn(text).map((where) => `${where} -> ${shorten(line)}`),
    );
    expect(leaks).toEqual(['argument that is wrong -> add bad']);
    expect(out.get('call stays leak')).toContain('[redacted]');
    expect(out.get('list --json')).toContain('[redacted]');
    expect(out.get('import --yes')).toContain('[redacted]');
  });

  it('leaves no secret in the state directory', async () => {
    const found = await readdir(home.file('state'), { recursive: true, withFileTypes: true });
    const files = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    expect(files).toContain(home.file('state/vault.json'));
    for (const file of files) expect(foundIn(await readFile(file, 'latin1')), file).toEqual([]);
  });
});

const shorten = (line: string): string => line.split(' ').slice(0, 2).join(' ');
