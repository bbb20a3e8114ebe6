import type { CommandContext } from '../command.js';
import { withRuntime } from '../open.js';
import { showLine } from '../untrusted-text.js';
import { needWord } from '../words.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, words } = context;
  needWord(context, 0, 'server');
  await withRuntime(context, async ({ runtime }) => {
    const results = [];
    for (const server of new Set(words)) {
      const result = await output.during(`Signing out at ${server}`, runtime.signOut(server));
      results.push({ server, ...result });
      const name = output.color.bold(showLine(server, 60));
      if (output.json) continue;
      if (!result.found) output.line(`You were not signed in at ${name}`);
      else output.line(`Signed out at ${name}${result.revoked ? '' : '; its tokens end by themselves'}`);
    }
    if (output.json) output.data(results);
  });
}
