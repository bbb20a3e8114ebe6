import type { LoadedConfig, ServerStatus } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { connectServers, statusOf } from '../connect-servers.js';
import { withRuntime } from '../open.js';
import { textTable } from '../text-table.js';
import { showLine } from '../untrusted-text.js';

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly what: string;
  readonly next?: string | undefined;
}

const EXITS = { config: 10, server: 11, auth: 12 } as const;
const CONFIG_CODES = new Set(['CONFIG_INVALID', 'TRUST_REQUIRED', 'VARIABLE_MISSING', 'SERVER_LIMIT']);

export async function run(context: CommandContext): Promise<number> {
  const { output, words } = context;
  return withRuntime(context, async ({ runtime, config }) => {
    await connectServers(context, runtime, words);
    const servers = statusOf(runtime, words);
    const { problems } = config();
    const checks = [checkNode(), ...checkConfiguration(config()), ...servers.map(checkServer)];
    if (output.json) output.data({ checks });
    else show(context, checks);
    return exitCode(problems.length > 0, servers);
  });
}

const checkNode = (): Check => ({
  name: 'node',
  ok: true,
  what: `${process.version} on ${process.platform} ${process.arch}`,
});

function checkConfiguration({ problems, servers, layers }: LoadedConfig): Check[] {
  const name = 'configuration';
  if (problems.length > 0)
    return problems.map(({ message, hint }) => ({ name, ok: false, what: message, next: hint }));
  const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;
  const files = layers.filter(({ present }) => present).length;
  return [
    {
      name,
      ok: true,
      what: `${count(servers.size, 'server')} in ${count(files, 'file')}`,
      next:
        servers.size === 0 ? 'Add one: turnbuckle add <name> -- <command>, or turnbuckle import' : undefined,
    },
  ];
}

function checkServer({ name, status, error, transport, protocolVersion, tools }: ServerStatus): Check {
  if (status === 'disabled')
    return { name, ok: true, what: 'switched off', next: `turnbuckle enable ${name} switches it on` };
  if (status !== 'connected') {
    return {
      name,
      ok: false,
      what: `${error?.code ?? status}: ${showLine(error?.message ?? 'not connected', 200)}`,
      next: error?.hint ?? `turnbuckle logs ${name}`,
    };
  }
  const count = `${tools.length} tool${tools.length === 1 ? '' : 's'}`;
  // Connected without a tool is usually not what anybody wanted.
  const next =
    tools.length === 0
      ? 'It is up but offers no tools. Is it the right server, or does it want a sign-in?'
      : undefined;
  return { name, ok: true, what: `reached by ${transport}, speaks ${protocolVersion}, ${count}`, next };
}

function show({ output }: CommandContext, checks: readonly Check[]): void {
  const rows = checks.map(({ name, ok, what }) => [
    ok ? output.color.green('✓') : output.color.red('✕'),
    showLine(name, 60),
    showLine(what, 300),
  ]);
  const lines = textTable(rows);
  checks.forEach(({ next }, index) => {
    output.line(lines[index]);
    if (next !== undefined) output.line(`  ${output.color.dim('→')} ${showLine(next, 400)}`);
  });
}

function exitCode(configProblems: boolean, servers: readonly ServerStatus[]): number {
  const failed = servers.filter(({ status }) => status === 'failed' || status === 'needs-auth');
  if (configProblems || failed.some(({ error }) => CONFIG_CODES.has(error?.code ?? ''))) return EXITS.config;
  if (failed.some(({ status }) => status === 'failed')) return EXITS.server;
  return failed.length > 0 ? EXITS.auth : 0;
}
