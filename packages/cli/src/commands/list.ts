import type { ServerStatus } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { withServers } from '../daemon/with-servers.js';
import { sandboxLabel } from '../session/checks/sandbox-checks.js';
import { connectServers, requireServers, statusOf } from '../session/connect-servers.js';
import { leftOutHint, leftOutText } from '../session/left-out.js';
import { textTable } from '../terminal/text-table.js';
import { showLine } from '../terminal/untrusted-text.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, positionals, flags } = context;
  const readsOnly = flags['no-connect'] === true;
  // What a daemon has connected is not what the files say.
  const asked = readsOnly ? { ...context, flags: { ...flags, 'no-daemon': true } } : context;
  await withServers(asked, async (servers) => {
    requireServers(servers, positionals);
    if (!readsOnly) await connectServers(context, servers, positionals);
    const found = statusOf(servers, positionals);
    if (output.json) return output.data(found.map(toJson));
    if (found.length === 0)
      return output.note(
        'No servers configured. Import servers (turnbuckle import), or add a server: turnbuckle add <name> -- <command>',
      );
    const rows = found.map((server) => row(server, context));
    for (const line of textTable(rows, output)) output.line(line);
    for (const { name, error } of found) if (error !== undefined) printError(context, name, error);
    for (const server of found) printLeftOut(context, server);
  });
}

const MARKS: Readonly<
  Record<ServerStatus['status'], [mark: string, color: 'green' | 'red' | 'yellow' | 'dim']>
> = {
  connected: ['●', 'green'],
  failed: ['✕', 'red'],
  'needs-auth': ['!', 'yellow'],
  pending: ['○', 'dim'],
  disabled: ['–', 'dim'],
};

function row(server: ServerStatus, { output }: CommandContext): string[] {
  const { name, status, transport, protocolVersion, tools, scope, serverInfo } = server;
  const [mark, color] = MARKS[status];
  const what = serverInfo === undefined ? '' : showLine(`${serverInfo.name} ${serverInfo.version}`, 40);
  const count = status === 'connected' ? `${tools.length} tool${tools.length === 1 ? '' : 's'}` : '';
  return [
    output.color[color](mark),
    showLine(name, 60),
    status,
    transport ?? '',
    protocolVersion ?? '',
    count,
    [scope ?? '', sandboxLabel(server)].filter((word) => word !== '').join(', '),
    output.color.dim(what),
  ];
}

function printError(
  { output }: CommandContext,
  name: string,
  { code, message, hint }: NonNullable<ServerStatus['error']>,
): void {
  output.note(
    `\n${output.color.red(showLine(name, 60))} ${output.color.dim(code)} ${showLine(message, 400)}`,
  );
  if (hint !== undefined) output.note(`  ${showLine(hint, 600)}`);
}

function printLeftOut({ output }: CommandContext, server: ServerStatus): void {
  const text = leftOutText(server);
  if (text === '') return;
  output.note(`\n${output.color.yellow(showLine(server.name, 60))} ${text}`);
  output.note(`  ${leftOutHint(server.name)}`);
}

const toJson = ({ error, ...status }: ServerStatus): Record<string, unknown> => ({
  ...status,
  error: error?.toJSON(),
});
