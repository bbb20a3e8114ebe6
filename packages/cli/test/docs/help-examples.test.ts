/** Runs the examples of the help in a shell as printed: an example that is copied works. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { fixture } from '@turnbuckle/testing';
import { ERRORS } from 'turnbuckle/host';
import { describe, expect, it } from 'vitest';
import type { Command } from '../../src/command.js';
import { COMMANDS } from '../../src/commands.js';
import { call, createLoggedHome } from '../commands/logged-home.js';
import { environmentOf, type Finished, finished, type Home } from '../commands/turnbuckle.js';

const standIn = (name: string): object => ({
  command: process.execPath,
  args: [fileURLToPath(new URL('published-server.mjs', import.meta.url)), name],
});

/** The servers that the examples use. */
const SERVERS = {
  everything: standIn('everything'),
  files: standIn('filesystem'),
  github: standIn('github'),
  docs: fixture('echo'),
  billing: fixture('echo'),
};
/** A command that the examples of a command need to have run before. */
const BEFORE: Readonly<Record<string, string>> = {
  secrets: 'echo value | turnbuckle secrets set github',
  rules: 'turnbuckle rules allow cursor github --yes',
};

/** Examples that need an answer, Ctrl-C, a sign-in or a third-party program. */
const NOT_RUN =
  /^turnbuckle (serve|login|import|export|setup|trust|approvals)|bridge$|--follow$|^turnbuckle calls replay|^op |^source |secrets set github$|rotate --to passphrase/;
/** Examples with another exit code than 0. */
const EXITS: ReadonlyArray<readonly [RegExp, number]> = [
  [/--as claude$/, ERRORS.APPROVAL_NEEDED.exit],
  // Without a terminal there is no confirmation.
  [/^turnbuckle rules (allow|ask|deny|remove)/, ERRORS.CALL_CANCELLED.exit],
  [/^turnbuckle rules pin /, ERRORS.APPROVAL_NEEDED.exit],
  // Without a daemon, and with ids that are made up.
  [
    /^turnbuckle steward (approvals|approve|refuse|pause)|--wait$|^turnbuckle chat --(list|end)/,
    ERRORS.CONNECT_FAILED.exit,
  ],
  [/^turnbuckle steward cancel/, ERRORS.PATH_UNKNOWN.exit],
];

async function prepare(command: string): Promise<Home> {
  const logged = [
    call('k3v9x1-42', { server: 'billing', arguments: '{"text":"invoice 2231"}' }),
    call('k3v9x1-43', { server: 'github' }),
  ];
  const home = await createLoggedHome(logged, {
    configured: SERVERS,
    servers: ['billing', 'github'].map((name) => ({
      name,
      config: '{}',
      enabled: true,
      at: Date.now() - 1e9,
      removed: false,
      tools: 2,
      toolTokens: 90,
    })),
  });
  // A copy of a registry, since the official one is not on this machine.
  await home.write('.config/turnbuckle/registry.json', { servers: [] });
  await home.write('.config/turnbuckle/mcp.json', {
    servers: SERVERS,
    steward: { registries: [{ file: 'registry.json' }] },
  });
  const before = BEFORE[command];
  if (before !== undefined) expect(await play(before, home)).toMatchObject({ code: 0 });
  return home;
}

function play(line: string, home: Home): Promise<Finished> {
  const child = spawn('sh', ['-c', line], { cwd: home.project, env: environmentOf(home), stdio: 'pipe' });
  child.stdin.end();
  return finished(child);
}

const played = COMMANDS.map((command) => ({
  ...command,
  lines: command.examples.map(({ line }) => line).filter((line) => !NOT_RUN.test(line)),
})).filter(({ name, lines }) => lines.length > 0 && name !== 'add');

describe('examples of the help', () => {
  it.each(played.map((one) => [one.name, one] as const))(
    'of %s run as they are printed',
    async (name, { lines }) => {
      const home = await prepare(name);
      for (const line of lines) {
        const { code, stderr } = await play(line, home);
        const [, exit = 0] = EXITS.find(([pattern]) => pattern.test(line)) ?? [];
        expect({ line, code, stderr: code === exit ? '' : stderr }).toEqual({ line, code: exit, stderr: '' });
      }
    },
  );

  it('are nearly all run, and the others use existing options', () => {
    const lines = COMMANDS.flatMap((command) => command.examples.map(({ line }) => ({ command, line })));
    expect(lines.filter(({ line }) => !NOT_RUN.test(line)).length).toBeGreaterThan(45);
    expect(lines.flatMap(({ command, line }) => unknownOptions(command, line))).toEqual([]);
  });
});

function unknownOptions({ options, name }: Command, line: string): string[] {
  const [own = ''] = /turnbuckle .*$/.exec(line.split(' -- ')[0] ?? '') ?? [];
  const used = [...own.matchAll(/\s--([a-z-]+)/g)].map(([, option = '']) => option);
  return used
    .filter((option) => !(option in options) && option !== 'json')
    .map((option) => `${name} --${option}`);
}
