import type { ConfiguredRuntime, Runtime, ServerStatus } from 'turnbuckle';
import type { LoadedConfig } from 'turnbuckle/host';
import { shellQuote } from 'turnbuckle/light';
import { describeFlags } from '../calls/describe-flags.js';
import type { CommandContext } from '../command.js';
import { addressSuffix } from '../command-line/report-error.js';
import { compareServerStatus, inspectDaemon } from '../daemon/inspect-daemon.js';
import type { Check } from '../session/checks/check.js';
import { checkRelativePaths } from '../session/checks/relative-checks.js';
import { checkSandboxSupport, checkServerSandbox } from '../session/checks/sandbox-checks.js';
import { withRuntime } from '../session/command-runtime.js';
import { connectServers, statusOf } from '../session/connect-servers.js';
import { leftOutHint, leftOutText } from '../session/left-out.js';
import { textTable } from '../terminal/text-table.js';
import { showLine } from '../terminal/untrusted-text.js';
import { wrapLines } from '../terminal/wrap-text.js';

interface ServerCheck extends Check {
  /** What to look at in its texts. */
  readonly flagged?: readonly Finding[];
}

interface Finding {
  /** A tool of it; absent: its instructions. */
  readonly tool?: string;
  readonly flags: readonly string[];
  readonly what: string;
}

const EXITS = { config: 10, server: 11, auth: 12 } as const;
const CONFIG_CODES = new Set(['CONFIG_INVALID', 'TRUST_REQUIRED', 'VARIABLE_MISSING', 'SERVER_LIMIT']);

export async function run(context: CommandContext): Promise<number> {
  const { output, positionals } = context;
  const check = async ({ runtime, config }: ConfiguredRuntime): Promise<number> => {
    await connectServers(context, runtime, positionals);
    const servers = statusOf(runtime, positionals);
    const { problems } = config();
    const daemon = await inspectDaemon(context, config());
    const differing = servers.flatMap((server) =>
      compareServerStatus(server, daemon).some(({ ok }) => !ok)
        ? daemon.statuses.filter(({ name }) => name === server.name)
        : [],
    );
    const checks: ServerCheck[] = [
      checkNode(),
      ...(await checkSandboxSupport(servers, positionals.length === 0)),
      ...checkConfiguration(config()),
      ...daemon.checks,
      ...servers.flatMap((server) => [
        { ...checkServer(server), ...findFlags(server, runtime) },
        ...checkServerSandbox(server),
        ...compareServerStatus(server, daemon),
        ...checkRelativePaths(config().servers.get(server.name), daemon.directory),
      ]),
    ];
    if (output.json) output.data({ checks });
    else show(context, checks);
    return exitCode(
      problems.length > 0 || daemon.hasProblems,
      [...servers, ...differing],
      daemon.isUnresponsive,
    );
  };
  // The problems of the files are among what it shows.
  return withRuntime(context, check, { warn: false });
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
        servers.size === 0
          ? 'Import servers (turnbuckle import), or add a server: turnbuckle add <name> -- <command>'
          : undefined,
    },
  ];
}

function checkServer(server: ServerStatus): Check {
  const { name, status, error, transport, protocolVersion, tools } = server;
  if (status === 'disabled')
    return {
      name,
      ok: true,
      what: 'disabled',
      next: `Enable the server: turnbuckle enable ${shellQuote(name)}`,
    };
  if (status !== 'connected') {
    return {
      name,
      ok: false,
      what: `${error?.code ?? status}: ${error?.message ?? 'not connected'}${error === undefined ? '' : addressSuffix(error)}`,
      next: error?.hint ?? `turnbuckle logs ${shellQuote(name)}`,
    };
  }
  const count = `${tools.length} tool${tools.length === 1 ? '' : 's'}`;
  // Connected without a tool is usually not what anybody wanted.
  const leftOut = leftOutText(server);
  const next =
    tools.length === 0
      ? 'The server is connected but has no tools. Check that it is the right server, or sign in.'
      : undefined;
  return {
    name,
    ok: true,
    what: `connected over ${transport}, protocol ${protocolVersion}, ${count}${leftOut === '' ? '' : `; ${leftOut}`}`,
    next: leftOut === '' ? next : leftOutHint(name),
  };
}

function findFlags({ name, flags, instructions }: ServerStatus, runtime: Runtime): { flagged?: Finding[] } {
  const others = otherNames(name, runtime);
  const about = { flags, definition: { instructions } };
  const own = flags.length === 0 ? [] : [{ flags, what: describeFlags(about, others) }];
  const tools = runtime.catalog.listByServer(name).filter((tool) => tool.flags.length > 0);
  const flagged = [
    ...own,
    ...tools.map((tool) => ({ tool: tool.tool, flags: tool.flags, what: describeFlags(tool, others) })),
  ];
  return flagged.length === 0 ? {} : { flagged };
}

/** Names of the other servers and their tools, longest first. */
const otherNames = (name: string, runtime: Runtime): string[] =>
  runtime
    .serverNames()
    .filter((server) => server !== name)
    .flatMap((server) => [
      server,
      ...runtime.catalog.listByServer(server).flatMap((tool) => [tool.name, tool.tool]),
    ])
    .sort((a, b) => b.length - a.length);

const MAX_FINDINGS_SHOWN = 5;
/** Enough for an entry with ten faults. A server can write a longer message. */
const MAX_TEXT_CHARACTERS = 2_000;

function showFindings({ output }: CommandContext, { name, flagged = [] }: ServerCheck): void {
  for (const { tool, what } of flagged.slice(0, MAX_FINDINGS_SHOWN))
    writeWrapped(
      output,
      `  ${output.color.yellow('⚠')} ${tool === undefined ? 'server instructions' : showLine(tool, 60)} ${what}`,
      '    ',
    );
  const rest = flagged.length - MAX_FINDINGS_SHOWN;
  if (rest > 0)
    output.line(
      output.rewriteCommands(
        `  ${output.color.yellow(`⚠ and ${rest} more warnings`)}: turnbuckle tools ${shellQuote(name)}`,
      ),
    );
}

function show(context: CommandContext, checks: readonly ServerCheck[]): void {
  const { output } = context;
  const rows = checks.map(({ name, ok, warns, what }) => [
    ok ? (warns === true ? output.color.yellow('!') : output.color.green('✓')) : output.color.red('✕'),
    showLine(name, 60),
    showLine(what, MAX_TEXT_CHARACTERS),
  ]);
  const table = textTable(rows);
  checks.forEach((check, index) => {
    writeWrapped(output, table[index] ?? '', '     ');
    if (check.next !== undefined)
      writeWrapped(output, `  ${output.color.dim('→')} ${showLine(check.next, MAX_TEXT_CHARACTERS)}`, '    ');
    showFindings(context, check);
  });
}

/** Whole, in as many lines as that takes: what is wrong, and what to do, is not cut off. */
function writeWrapped(output: CommandContext['output'], text: string, indent: string): void {
  output.line(wrapLines(output.rewriteCommands(text), output.width, indent));
}

function exitCode(configProblems: boolean, servers: readonly ServerStatus[], isSilent: boolean): number {
  const failed = servers.filter(({ status }) => status === 'failed' || status === 'needs-auth');
  if (configProblems || failed.some(({ error }) => CONFIG_CODES.has(error?.code ?? ''))) return EXITS.config;
  if (isSilent || failed.some(({ status }) => status === 'failed')) return EXITS.server;
  return failed.length > 0 ? EXITS.auth : 0;
}
