import { withRuntime } from '../open.js';
import { textTable } from '../text-table.js';
import { showLine } from '../untrusted-text.js';

const EXITS = { config: 10, server: 11, auth: 12 };
const CONFIG_CODES = new Set(['CONFIG_INVALID', 'TRUST_REQUIRED', 'VARIABLE_MISSING', 'SERVER_LIMIT']);
export async function run(context) {
  const { output, words } = context;
  return withRuntime(context, async ({ runtime, config }) => {
    const work =
      words.length === 0
        ? runtime.connectAll()
        : Promise.all(
            words
              .filter((name) => runtime.serverStatus(name).status !== 'disabled')
              .map((name) => runtime.connect(name).catch(() => {})),
          );
    await output.during('Checking', work);
    const servers = words.length === 0 ? runtime.status() : words.map((name) => runtime.serverStatus(name));
    const { problems } = config();
    const checks = [
      checkNode(),
      ...problems.map(({ message, hint }) => ({
        name: 'configuration',
        ok: false,
        what: message,
        next: hint,
      })),
      ...servers.map(checkServer),
    ];
    if (problems.length === 0)
      checks.splice(1, 0, {
        name: 'configuration',
        ok: true,
        what: `${servers.length} server${servers.length === 1 ? '' : 's'}`,
      });
    if (output.json) output.data({ checks });
    else show(context, checks);
    return exitCode(problems.length > 0, servers);
  });
}
const checkNode = () => ({
  name: 'node',
  ok: true,
  what: `${process.version} on ${process.platform} ${process.arch}`,
});
function checkServer({ name, status, error, transport, protocolVersion, tools, calls: _calls }) {
  if (status === 'disabled') return { name, ok: true, what: 'switched off', next: undefined };
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
function show({ output }, checks) {
  const rows = checks.map(({ name, ok, what }) => [
    ok ? output.color.green('✓') : output.color.red('✕'),
    name,
    showLine(what, 300),
  ]);
  const lines = textTable(rows);
  checks.forEach(({ next }, index) => {
    output.line(lines[index]);
    if (next !== undefined) output.line(`  ${output.color.dim('→')} ${showLine(next, 400)}`);
  });
}
function exitCode(configProblems, servers) {
  const failed = servers.filter(({ status }) => status === 'failed' || status === 'needs-auth');
  if (configProblems || failed.some(({ error }) => CONFIG_CODES.has(error?.code ?? ''))) return EXITS.config;
  if (failed.some(({ status }) => status === 'failed')) return EXITS.server;
  return failed.length > 0 ? EXITS.auth : 0;
}
//# sourceMappingURL=doctor.js.map
