import { withRuntime } from '../open.js';
import { textTable } from '../text-table.js';
import { showLine } from '../untrusted-text.js';
export async function run(context) {
  const { output, words, flags } = context;
  await withRuntime(context, async ({ runtime }) => {
    const wanted = () =>
      words.length === 0 ? runtime.status() : words.map((name) => runtime.serverStatus(name));
    const work =
      words.length === 0
        ? runtime.connectAll()
        : Promise.all(
            words
              .filter((name) => runtime.serverStatus(name).status !== 'disabled')
              .map((name) => runtime.connect(name).catch(() => {})),
          );
    if (flags['no-connect'] !== true) await output.during('Connecting', work);
    const servers = wanted();
    if (output.json) return output.data(servers.map(toJson));
    if (servers.length === 0)
      return output.note(
        'There are no servers yet. Add one: turnbuckle add <name> -- <command>, or turnbuckle import',
      );
    for (const line of textTable(servers.map((server) => row(server, context)))) output.line(line);
    for (const { name, error } of servers) if (error !== undefined) tell(context, name, error);
  });
}
const MARKS = {
  connected: ['●', 'green'],
  failed: ['✕', 'red'],
  'needs-auth': ['!', 'yellow'],
  pending: ['○', 'dim'],
  disabled: ['–', 'dim'],
};
function row({ name, status, transport, protocolVersion, tools, scope, serverInfo }, { output }) {
  const [mark, color] = MARKS[status];
  const what = serverInfo === undefined ? '' : showLine(`${serverInfo.name} ${serverInfo.version}`, 40);
  const count = status === 'connected' ? `${tools.length} tool${tools.length === 1 ? '' : 's'}` : '';
  return [
    output.color[color](mark),
    name,
    status,
    transport ?? '',
    protocolVersion ?? '',
    count,
    scope ?? '',
    output.color.dim(what),
  ];
}
function tell({ output }, name, { code, message, hint }) {
  output.note(`\n${output.color.red(name)} ${output.color.dim(code)} ${showLine(message, 400)}`);
  if (hint !== undefined) output.note(`  ${showLine(hint, 600)}`);
}
const toJson = ({ error, ...status }) => ({
  ...status,
  error: error?.toJSON(),
});
//# sourceMappingURL=list.js.map
