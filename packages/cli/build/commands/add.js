import { editServers, TurnbuckleError } from 'turnbuckle';
import { fileOfFlag, fileOfScope } from '../config-file.js';
import { loadCommandConfig } from '../open.js';
import { needWord, readPairs } from '../words.js';
export async function run(context) {
  const { output, flags, words } = context;
  const name = needWord(context, 0, 'name of the server');
  const entry = toEntry(words.slice(1), context);
  const config = await loadCommandConfig(context);
  const file = fileOfFlag(context, config) ?? fileOfScope('user', config);
  await checkEntry(name, entry);
  await editServers(file, [{ action: flags.force === true ? 'set' : 'add', name, config: entry }]);
  if (output.json) output.data({ added: name, file, config: entry });
  else output.line(`Added ${output.color.bold(name)} to ${file}`);
  output.note(output.color.dim(`Try it: turnbuckle tools ${name}`));
}
function toEntry(words, { flags }) {
  const [first, ...rest] = words;
  if (first === undefined) throw invalid('What to run or contact is missing.');
  const env = readPairs(flags.env ?? []);
  const headers = readHeaders(flags.header ?? []);
  const extras = {
    ...(Object.keys(env).length > 0 && { env }),
    ...(Object.keys(headers).length > 0 && { headers }),
  };
  if (first.trimStart().startsWith('{')) return { ...readJson(first), ...extras };
  const type = typeof flags.transport === 'string' ? { type: flags.transport } : {};
  if (/^(https?|wss?):\/\//.test(first)) return { ...type, url: first, ...extras };
  return { ...type, command: first, ...(rest.length > 0 && { args: rest }), ...extras };
}
/** The same check that a runtime makes, before anything is written. */
async function checkEntry(name, entry) {
  const { createRuntime } = await import('turnbuckle');
  const runtime = await createRuntime({ servers: { [name]: entry } });
  const { error } = runtime.serverStatus(name);
  await runtime.close();
  if (error !== undefined) throw error;
}
function readHeaders(lines) {
  return Object.fromEntries(
    lines.map((line) => {
      const cut = line.indexOf(':');
      if (cut <= 0) throw invalid(`The header "${line}" is not of the form "Name: value".`);
      return [line.slice(0, cut).trim(), line.slice(cut + 1).trim()];
    }),
  );
}
function readJson(text) {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid('The JSON of the server cannot be read.', cause);
  }
}
const invalid = (message, cause) =>
  new TurnbuckleError('ARGUMENTS_INVALID', message, {
    cause,
    hint: 'turnbuckle add --help shows how to write it.',
  });
//# sourceMappingURL=add.js.map
