import { editConfig, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { fileOfFlag, fileOfScope } from '../config-file.js';
import { loadCommandConfig } from '../open.js';

const FIRST = `{
  // The servers, by the names that you give them. turnbuckle add, import and list work on this file too.
  "servers": {
    // A local server is a command:
    // "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/path/to/a/directory"] },

    // A remote one is an address. \${VAR} is filled in from the environment when it is connected:
    // "docs": { "url": "https://example.com/mcp", "headers": { "authorization": "Bearer \${DOCS_TOKEN}" } },
  },
}
`;

export async function run(context: CommandContext): Promise<void> {
  const { output } = context;
  const config = await loadCommandConfig(context);
  const file = fileOfFlag(context, config) ?? fileOfScope('user', config);
  await editConfig(file, (text) => {
    if (text.trim() === '') return FIRST;
    throw new TurnbuckleError('NAME_TAKEN', `${file} is there already.`, {
      hint: 'turnbuckle config shows what is in it.',
    });
  });
  if (output.json) output.data({ file });
  else output.line(`Wrote ${file}`);
  output.note(
    output.color.dim(
      'Next: turnbuckle import takes over the servers of your other tools; turnbuckle add adds one.',
    ),
  );
}
