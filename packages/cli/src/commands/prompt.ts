import { TurnbuckleError } from 'turnbuckle';
import { shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import { nearestWord } from '../command-line/nearest-word.js';
import { parseKeyValuePairs, requirePositional } from '../command-line/positionals.js';
import { withServers } from '../daemon/with-servers.js';
import { connectForUse, preferKnownError } from '../session/connect-servers.js';
import type { Servers } from '../session/servers.js';
import { showContent } from '../terminal/show-content.js';
import { showLine } from '../terminal/untrusted-text.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, signal } = context;
  const server = requirePositional(context, 0, 'server');
  const name = requirePositional(context, 1, 'prompt');
  await withServers(context, async (servers) => {
    const unknown = await connectForUse(context, servers, server);
    const args =
      unknown === undefined
        ? await completePromptArguments(context, servers, { server, name })
        : parseKeyValuePairs(context.positionals.slice(2));
    const prompt = servers.getPrompt(server, name, args, { signal }).catch(preferKnownError(unknown));
    const result = await output.withSpinner(`Getting ${showLine(name)}`, prompt);
    if (output.json) return output.data(result);
    for (const { role, content } of result.messages) {
      output.line(output.color.bold(`${showLine(role)}:`));
      await showContent([content], { output, directory: '.', stem: `${server}-${name}` });
    }
  });
}

/** Many servers fill in nothing, or "undefined", where an argument is missing; so it is asked for here. */
async function completePromptArguments(
  { positionals, output }: CommandContext,
  servers: Servers,
  { server, name }: { server: string; name: string },
): Promise<Record<string, string>> {
  const args = parseKeyValuePairs(positionals.slice(2));
  const prompts = await servers.listPrompts(server);
  const definition = prompts.find((prompt) => prompt.name === name);
  if (definition === undefined) {
    const close = nearestWord(
      name,
      prompts.map((prompt) => prompt.name),
    );
    throw new TurnbuckleError('PROMPT_UNKNOWN', `There is no prompt "${name}" on server "${server}".`, {
      server,
      hint: `${close === undefined ? '' : `Did you mean "${close}"? `}List the prompts: turnbuckle prompts ${shellQuote(server)}`,
    });
  }
  const missing = (definition.arguments ?? []).filter(
    (argument) => argument.required === true && !Object.hasOwn(args, argument.name),
  );
  if (missing.length === 0) return args;
  if (!output.interactive) {
    const names = missing.map((argument) => showLine(argument.name, 60));
    throw new TurnbuckleError('ARGUMENTS_INVALID', `Prompt "${name}" requires ${names.join(', ')}.`, {
      server,
      hint: `turnbuckle prompt ${shellQuote(server)} ${shellQuote(name)} ${names.map((one) => `${one}=…`).join(' ')}`,
    });
  }
  const { askText } = await import('../terminal/ask.js');
  for (const { name: key, description } of missing)
    args[key] = await askText(description === undefined ? key : `${key}: ${description}`);
  return args;
}
