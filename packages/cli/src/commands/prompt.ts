import type { CommandContext } from '../command.js';
import { withRuntime } from '../open.js';
import { showContent } from '../show-content.js';
import { needWord, readPairs } from '../words.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, words, signal } = context;
  const server = needWord(context, 0, 'server');
  const name = needWord(context, 1, 'prompt');
  await withRuntime(context, async ({ runtime }) => {
    const prompt = runtime.getPrompt(server, name, readPairs(words.slice(2)), { signal });
    const result = await output.during(`Getting ${name}`, prompt);
    if (output.json) return output.data(result);
    for (const { role, content } of result.messages) {
      output.line(output.color.bold(`${role}:`));
      await showContent([content], { output, directory: '.', stem: `${server}-${name}` });
    }
  });
}
