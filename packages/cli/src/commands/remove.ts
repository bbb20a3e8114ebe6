import { editServers } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { fileOfFlag, fileOfServer } from '../config-file.js';
import { loadCommandConfig } from '../open.js';
import { showLine } from '../untrusted-text.js';
import { needWord } from '../words.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, words } = context;
  needWord(context, 0, 'name of the server');
  const config = await loadCommandConfig(context);
  const targets = [...new Set(words)].map((name) => ({
    name,
    file: fileOfFlag(context, config) ?? fileOfServer(name, config),
  }));
  for (const { name, file } of targets) {
    await editServers(file, [{ action: 'remove', name }]);
    if (!output.json) output.line(`Removed ${output.color.bold(showLine(name, 60))} from ${file}`);
    const shadowed = config.servers.get(name)?.shadowed[0];
    if (shadowed !== undefined)
      output.note(`  ${shadowed.file} has a server of that name too, which is now in effect.`);
  }
  if (output.json) output.data({ removed: targets });
}
