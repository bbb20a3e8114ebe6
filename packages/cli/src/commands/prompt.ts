import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { connectForUse, unlessKnown } from '../connect-servers.js';
import { nearestWord } from '../nearest-word.js';
import type { Servers } from '../servers.js';
import { shellWord } from '../shell-word.js';
import { showContent } from '../show-content.js';
import { showLine } from '../untrusted-text.js';
import { withServers } from '../with-servers.js';
import { needWord, readPairs } from '../words.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, signal } = context;
  const server = needWord(context, 0, 'server');
  const name = needWord(context, 1, 'prompt');
  await withServers(context, async (servers) => {
    const unknown = await connectForUse(context, servers, server);
    const args =
      unknown === undefined
        ? await completeArguments(context, servers, { server, name })
        : readPairs(context.words.slice(2));
    const prompt = servers.getPrompt(server, name, args, { signal }).catch(unlessKnown(unknown));
    const result = await output.during(`Getting ${showLine(name)}`, prompt);
    if (output.json) return output.data(result);
    for (const { role, content } of result.messages) {
      output.line(output.color.bold(`${showLine(role)}:`));
      await showContent([content], { output, directory: '.', stem: `${server}-${name}` });
    }
  });
}

/** Many servers fill in nothing, or "undefined", where an argument is missing; so it is asked for here. */
async function completeArguments(
  { words, output }: CommandContext,
  servers: Servers,
  { server, name }: { server: string; name: string },
): Promise<Record<string, string>> {
  const args = readPairs(words.slice(2));
  const prompts = await servers.listPrompts(server);
  const definition = prompts.find((prompt) => prompt.name === name);
  if (definition === undefined) {
    const close = nearestWord(
      name,
      prompts.map((prompt) => prompt.name),
    );
    throw new TurnbuckleError('PROMPT_UNKNOWN', `There is no prompt "${name}" at server "${server}".`, {
      server,
      hint: `${close === undefined ? '' : `Did you mean "${close}"? `}turnbuckle prompts ${shellWord(server)} lists what there is.`,
    });
  }
  const missing = (definition.arguments ?? []).filter(
    (argument) => argument.required === true && !Object.hasOwn(args, argument.name),
  );
  if (missing.length === 0) return args;
  if (!output.interactive) {
    const names = missing.map((argument) => showLine(argument.name, 60));
    throw new TurnbuckleError('ARGUMENTS_INVALID', `The prompt "${name}" needs ${names.join(', ')}.`, {
      server,
      hint: `turnbuckle prompt ${shellWord(server)} ${shellWord(name)} ${names.map((one) => `${one}=…`).join(' ')}`,
    });
  }
  const { askText } = await import('../ask.js');
  for (const { name: key, description } of missing)
    args[key] = await askText(description === undefined ? key : `${key}: ${description}`);
  return args;
}
