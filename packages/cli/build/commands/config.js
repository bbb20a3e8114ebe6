import { TurnbuckleError } from 'turnbuckle';
import { loadCommandConfig } from '../open.js';
import { redactEntry } from '../redact-entry.js';
import { textTable } from '../text-table.js';
import { showText } from '../untrusted-text.js';
export async function run(context) {
  const { output, words } = context;
  const config = await loadCommandConfig(context);
  const [name] = words;
  const server = name === undefined ? undefined : config.servers.get(name);
  if (name !== undefined && server === undefined)
    throw new TurnbuckleError('SERVER_UNKNOWN', `There is no server named "${name}" in the configuration.`, {
      server: name,
    });
  if (output.json) return output.data(server === undefined ? allAsJson(config) : serverAsJson(server));
  if (server !== undefined) return showServer(context, server);
  showFiles(context, config);
  showServers(context, config);
}
function showFiles({ output }, { layers, settingOrigins, settings, problems }) {
  output.line(output.color.bold('Files, from the weakest to the strongest'));
  const rows = layers.map(({ layer, present, servers }) => [
    `  ${layer.scope}`,
    layer.file,
    present ? `${servers.length} server${servers.length === 1 ? '' : 's'}` : output.color.dim('not there'),
  ]);
  for (const line of textTable(rows)) output.line(line);
  for (const [key, origin] of settingOrigins)
    output.line(`  ${key} = ${JSON.stringify(settings[key])}  ${output.color.dim(`from ${origin.file}`)}`);
  for (const { message } of problems) output.line(`${output.color.red('  problem')} ${showText(message)}`);
}
function showServers({ output }, { servers }) {
  output.line(`\n${output.color.bold('Servers')}`);
  if (servers.size === 0) output.line('  none yet');
  const rows = [...servers.values()].map(({ name, origin, problem, config, shadowed }) => [
    `  ${name}`,
    problem === undefined ? (config?.enabled === false ? 'off' : 'ok') : output.color.red(problem.code),
    `${origin.file}${origin.line > 0 ? `:${origin.line}` : ''}`,
    output.color.dim(shadowed.length === 0 ? '' : `shadows ${shadowed.map(({ file }) => file).join(', ')}`),
  ]);
  for (const line of textTable(rows)) output.line(line);
}
function showServer({ output }, server) {
  const { name, entry, origin, shadowed, problem } = server;
  output.line(`${output.color.bold(name)}  ${origin.scope}, ${origin.file}:${origin.line}`);
  for (const { scope, file, line } of shadowed)
    output.line(output.color.dim(`  shadows ${scope}, ${file}:${line}`));
  output.line(showText(JSON.stringify(redactEntry(entry), null, 2)));
  if (problem !== undefined)
    output.line(
      `${output.color.red(problem.code)} ${showText(problem.message)}${problem.hint === undefined ? '' : `\n  ${showText(problem.hint)}`}`,
    );
}
const serverAsJson = ({ name, entry, origin, shadowed, problem }) => ({
  name,
  entry: redactEntry(entry),
  origin,
  shadowed,
  problem: problem?.toJSON(),
});
const allAsJson = ({ layers, servers, settings, settingOrigins, problems }) => ({
  files: layers.map(({ layer, present }) => ({ ...layer, present })),
  settings: Object.fromEntries(
    [...settingOrigins].map(([key, origin]) => [key, { value: settings[key], origin }]),
  ),
  servers: [...servers.values()].map(serverAsJson),
  problems: problems.map((problem) => problem.toJSON()),
});
//# sourceMappingURL=config.js.map
