// The server of the guide's examples: it has the tools that they name, and touches no file.
import { serve } from '../../../../testing/dist/serve.js';
import { createTool, toText } from '../../../../testing/dist/tools/tool.js';

const path = { type: 'string' };
await serve({
  name: 'files',
  tools: [
    createTool({ name: 'read_file', description: 'Reads a file', input: { path } }, () => toText('invoice')),
    createTool({ name: 'write_file', description: 'Writes a file', input: { path } }, () => toText('done')),
  ],
});
