import { TurnbuckleError } from 'turnbuckle';
import { editConfig } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { loadCommandConfig } from '../session/command-runtime.js';
import { fileOfFlag, fileOfScope } from '../session/config-file.js';

const INITIAL_CONFIG = `{
  // Servers by name. The commands turnbuckle add, import and list use this file too.
  "servers": {
    // A local server has a command:
    // "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/path/to/a/directory"] },

    // A remote server has a URL. \${VAR} is replaced with the value of the environment variable VAR when the server is connected:
    // "docs": { "url": "https://example.com/mcp", "headers": { "authorization": "Bearer \${DOCS_TOKEN}" } },
  },
}
`;

export async function run(context: CommandContext): Promise<void> {
  const { output } = context;
  const config = await loadCommandConfig(context);
  const file = fileOfFlag(context, config) ?? fileOfScope('user', config);
  await editConfig(file, (text) => {
    if (text.trim() === '') return INITIAL_CONFIG;
    throw new TurnbuckleError('NAME_TAKEN', `${file} already exists.`, {
      hint: 'Show the configuration: turnbuckle config',
    });
  });
  if (output.json) output.data({ file });
  else output.line(`Wrote ${file}`);
  output.note(
    output.color.dim(
      'Next, import servers from other applications (turnbuckle import), or add a server: turnbuckle add <name> -- <command>',
    ),
  );
}
