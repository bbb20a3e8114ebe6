import { type ConfiguredServer, isRecord, type LoadedConfig, redactConfig } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { daemonConfigProblems } from '../daemon/inspect-daemon.js';
import { loadCommandConfig } from '../session/command-runtime.js';
import { unknownServer } from '../session/unknown-server.js';
import { textTable } from '../terminal/text-table.js';
import { showLine, showMessage, showText } from '../terminal/untrusted-text.js';

/** What is not agreed to, or not filled in, is no fault of a file. */
const INVALID_CONFIG_EXIT = 10;
const isInvalid = ({ problem }: ConfiguredServer): boolean => problem?.code === 'CONFIG_INVALID';

/** Shows the configuration with its problems; the exit code reports them to programs. */
export async function run(context: CommandContext): Promise<number> {
  const { output, positionals } = context;
  const config = await loadCommandConfig(context, { warn: positionals.length > 0, refuse: false });
  const [name] = positionals;
  const server = name === undefined ? undefined : config.servers.get(name);
  if (name !== undefined && server === undefined) throw unknownServer(name, [...config.servers.keys()]);
  const shown = server === undefined ? [...config.servers.values()] : [server];
  const kept = server === undefined ? await daemonConfigProblems(context, config) : [];
  if (output.json)
    output.data(
      server === undefined
        ? { ...allAsJson(config), ...(kept.length > 0 && { daemonProblems: kept }) }
        : { ...serverAsJson(server), defaults: defaultsFor(server, config) },
    );
  else if (server !== undefined) showServer(context, server, defaultsFor(server, config));
  else {
    showFiles(context, config);
    showServers(context, config);
    for (const { message, hint = '' } of kept)
      output.line(`${output.color.red('daemon')} ${showMessage(message)}\n  ${showMessage(hint)}`);
  }
  return config.problems.length > 0 || kept.length > 0 || shown.some(isInvalid) ? INVALID_CONFIG_EXIT : 0;
}

function showFiles(
  { output }: CommandContext,
  { layers, settingOrigins, settings, problems }: LoadedConfig,
): void {
  output.line(output.color.bold('Files, lowest priority first'));
  const rows = layers.map(({ layer, present, servers }) => [
    `  ${layer.scope}`,
    layer.file,
    present ? `${servers.length} server${servers.length === 1 ? '' : 's'}` : output.color.dim('not found'),
  ]);
  for (const line of textTable(rows)) output.line(line);
  for (const [key, origin] of settingOrigins)
    output.line(
      `  ${key} = ${showText(JSON.stringify(withoutSecrets(settings[key])))}  ${output.color.dim(`from ${formatLocation(origin)}`)}`,
    );
  for (const { message } of problems) output.line(`${output.color.red('  problem')} ${showMessage(message)}`);
}

/** A setting may have a key in plain text, such as that of a model. */
const withoutSecrets = (value: unknown): unknown => (isRecord(value) ? redactConfig(value) : value);

function showServers({ output }: CommandContext, { servers }: LoadedConfig): void {
  output.line(`\n${output.color.bold('Servers')}`);
  if (servers.size === 0)
    output.line(
      output.rewriteCommands(
        '  None. Import servers (turnbuckle import), or add a server: turnbuckle add <name> -- <command>',
      ),
    );
  const rows = [...servers.values()].map(({ name, origin, problem, config, shadowed }) => [
    `  ${showLine(name, 60)}`,
    problem === undefined ? (config?.enabled === false ? 'off' : 'ok') : output.color.red(problem.code),
    formatLocation(origin),
    output.color.dim(shadowed.length === 0 ? '' : `overrides ${shadowed.map(({ file }) => file).join(', ')}`),
  ]);
  const problems = [...servers.values()].map(({ problem }) => problem?.message);
  textTable(rows).forEach((line, index) => {
    output.line(line);
    const problem = problems[index];
    if (problem !== undefined) output.line(`      ${showMessage(problem)}`);
  });
}

/** The `defaults` for keys that the entry does not set. Undefined: none. */
function defaultsFor({ entry }: ConfiguredServer, { settings }: LoadedConfig): object | undefined {
  const applied = Object.entries(settings.defaults ?? {}).flatMap(([key, value]) => {
    const own = Object(entry)[key];
    if (own === undefined) return [[key, value]];
    if (!isRecord(own) || !isRecord(value)) return [];
    const inner = Object.entries(value).filter(([name]) => own[name] === undefined);
    return inner.length === 0 ? [] : [[key, Object.fromEntries(inner)]];
  });
  return applied.length === 0 ? undefined : Object.fromEntries(applied);
}

function showServer(
  { output }: CommandContext,
  server: ConfiguredServer,
  defaults: object | undefined,
): void {
  const { name, entry, origin, shadowed, problem } = server;
  output.line(`${output.color.bold(showLine(name, 60))}  ${origin.scope}, ${formatLocation(origin)}`);
  for (const weaker of shadowed)
    output.line(output.color.dim(`  overrides ${weaker.scope}, ${formatLocation(weaker)}`));
  output.line(showText(JSON.stringify(redactConfig(entry), null, 2)));
  if (defaults !== undefined) output.line(`defaults ${showText(JSON.stringify(defaults))}`);
  if (problem !== undefined)
    output.line(
      `${output.color.red(problem.code)} ${showMessage(problem.message)}${problem.hint === undefined ? '' : `\n  ${showMessage(problem.hint)}`}`,
    );
}

const formatLocation = ({ file, line }: ConfiguredServer['origin']): string =>
  showLine(line > 0 ? `${file}:${line}` : file, 400);

const serverAsJson = ({
  name,
  entry,
  origin,
  shadowed,
  problem,
}: ConfiguredServer): Record<string, unknown> => ({
  name,
  entry: redactConfig(entry),
  origin,
  shadowed,
  problem: problem?.toJSON(),
});

const allAsJson = ({
  layers,
  servers,
  settings,
  settingOrigins,
  problems,
}: LoadedConfig): Record<string, unknown> => ({
  files: layers.map(({ layer, present }) => ({ ...layer, present })),
  settings: Object.fromEntries(
    [...settingOrigins].map(([key, origin]) => [key, { value: withoutSecrets(settings[key]), origin }]),
  ),
  servers: [...servers.values()].map(serverAsJson),
  problems: problems.map((problem) => problem.toJSON()),
});
