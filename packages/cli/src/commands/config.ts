import { type ConfiguredServer, type LoadedConfig, redactConfig } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { daemonFaults } from '../daemon/compare-daemon.js';
import { loadCommandConfig } from '../open.js';
import { textTable } from '../text-table.js';
import { unknownServer } from '../unknown-server.js';
import { showLine, showMessage, showText } from '../untrusted-text.js';

/** What is not agreed to, or not filled in, is no fault of a file. */
const FAULTY_EXIT = 10;
const isFaulty = ({ problem }: ConfiguredServer): boolean => problem?.code === 'CONFIG_INVALID';

/** Shows it, faults and all; the exit code tells programs that there are some. */
export async function run(context: CommandContext): Promise<number> {
  const { output, words } = context;
  const config = await loadCommandConfig(context, { warn: words.length > 0, refuse: false });
  const [name] = words;
  const server = name === undefined ? undefined : config.servers.get(name);
  if (name !== undefined && server === undefined) throw unknownServer(name, [...config.servers.keys()]);
  const shown = server === undefined ? [...config.servers.values()] : [server];
  const kept = server === undefined ? await daemonFaults(context, config) : [];
  if (output.json)
    output.data(
      server === undefined
        ? { ...allAsJson(config), ...(kept.length > 0 && { daemonProblems: kept }) }
        : serverAsJson(server),
    );
  else if (server !== undefined) showServer(context, server);
  else {
    showFiles(context, config);
    showServers(context, config);
    for (const { message, hint = '' } of kept)
      output.line(`${output.color.red('daemon')} ${showMessage(message)}\n  ${showMessage(hint)}`);
  }
  return config.problems.length > 0 || kept.length > 0 || shown.some(isFaulty) ? FAULTY_EXIT : 0;
}

function showFiles(
  { output }: CommandContext,
  { layers, settingOrigins, settings, problems }: LoadedConfig,
): void {
  output.line(output.color.bold('Files, from the weakest to the strongest'));
  const rows = layers.map(({ layer, present, servers }) => [
    `  ${layer.scope}`,
    layer.file,
    present ? `${servers.length} server${servers.length === 1 ? '' : 's'}` : output.color.dim('not there'),
  ]);
  for (const line of textTable(rows)) output.line(line);
  for (const [key, origin] of settingOrigins)
    output.line(
      `  ${key} = ${showText(JSON.stringify(settings[key]))}  ${output.color.dim(`from ${whereOf(origin)}`)}`,
    );
  for (const { message } of problems) output.line(`${output.color.red('  problem')} ${showMessage(message)}`);
}

function showServers({ output }: CommandContext, { servers }: LoadedConfig): void {
  output.line(`\n${output.color.bold('Servers')}`);
  if (servers.size === 0)
    output.line(
      output.spell('  none yet; add one: turnbuckle add <name> -- <command>, or turnbuckle import'),
    );
  const rows = [...servers.values()].map(({ name, origin, problem, config, shadowed }) => [
    `  ${showLine(name, 60)}`,
    problem === undefined ? (config?.enabled === false ? 'off' : 'ok') : output.color.red(problem.code),
    whereOf(origin),
    output.color.dim(shadowed.length === 0 ? '' : `shadows ${shadowed.map(({ file }) => file).join(', ')}`),
  ]);
  for (const line of textTable(rows)) output.line(line);
}

function showServer({ output }: CommandContext, server: ConfiguredServer): void {
  const { name, entry, origin, shadowed, problem } = server;
  output.line(`${output.color.bold(showLine(name, 60))}  ${origin.scope}, ${whereOf(origin)}`);
  for (const weaker of shadowed)
    output.line(output.color.dim(`  shadows ${weaker.scope}, ${whereOf(weaker)}`));
  output.line(showText(JSON.stringify(redactConfig(entry), null, 2)));
  if (problem !== undefined)
    output.line(
      `${output.color.red(problem.code)} ${showMessage(problem.message)}${problem.hint === undefined ? '' : `\n  ${showMessage(problem.hint)}`}`,
    );
}

const whereOf = ({ file, line }: ConfiguredServer['origin']): string =>
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
    [...settingOrigins].map(([key, origin]) => [key, { value: settings[key], origin }]),
  ),
  servers: [...servers.values()].map(serverAsJson),
  problems: problems.map((problem) => problem.toJSON()),
});
