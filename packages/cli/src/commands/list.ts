import type { ServerStatus } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { connectServers, requireServers, statusOf } from '../connect-servers.js';
import { leftOutHint, leftOutText } from '../left-out.js';
import { sandboxWord } from '../sandbox-checks.js';
import { textTable } from '../text-table.js';
import { showLine } from '../untrusted-text.js';
import { withServers } from '../with-servers.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, words, flags } = context;
  const readsOnly = flags['no-connect'] === true;
  // What a daemon has connected is not what the files say.
  const asked = readsOnly ? { ...context, flags: { ...flags, 'no-daemon': true } } : context;
  await withServers(asked, async (servers) => {
    requireServers(servers, words);
    if (!readsOnly) await connectServers(context, servers, words);
    const found = statusOf(servers, words);
    if (output.json) return output.data(found.map(toJson));
    if (found.length === 0)
      return output.note(
        'There are no servers yet. Add one: turnbuckle add <name> -- <command>, or turnbuckle import',
      );
    const rows = found.map((server) => row(server, context));
    for (const line of textTable(rows, output)) output.line(line);
    for (const { name, error } of found) if (error !== undefined) tell(context, name, error);
    for (const server of found) tellLeftOut(context, server);
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
    [scope ?? '', sandboxWord(server)].filter((word) => word !== '').join(', '),
    output.color.dim(what),
  ];
}

function tell(
  { output }: CommandContext,
  name: string,
  { code, message, hint }: NonNullable<ServerStatus['error']>,
): void {
  output.note(
    `\n${output.color.red(showLine(name, 60))} ${output.color.dim(code)} ${showLine(message, 400)}`,
  );
  if (hint !== undefined) output.note(`  ${showLine(hint, 600)}`);
}

function tellLeftOut({ output }: CommandContext, server: ServerStatus): void {
  const text = leftOutText(server);
  if (text === '') return;
  output.note(`\n${output.color.yellow(showLine(server.name, 60))} ${text}`);
  output.note(`  ${leftOutHint(server.name)}`);
}

const toJson = ({ error, ...status }: ServerStatus): Record<string, unknown> => ({
  ...status,
  error: error?.toJSON(),
});
