import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { ASKING_TOOLS } from './asking-tools.mjs';
import { textResult } from './call.mjs';
import { CONTENT_TOOLS } from './content-tools.mjs';
import { servePrompts } from './prompts.mjs';
import { serveResources } from './resources.mjs';
import { states } from './states.mjs';
import { EXTENSION, serveTasks, TASK_TOOLS } from './task-tools.mjs';

const PLAIN_TOOLS = { ...CONTENT_TOOLS, ...ASKING_TOOLS };
/** @type {import('./call.mjs').InputSchema} */
const NO_ARGUMENTS = { type: 'object' };
const HINT = { ttlMs: 1_000, cacheScope: /** @type {const} */ ('public') };
/** @type {import('./call.mjs').Tools} */
const EXTRA = { test_extra_tool: { run: () => textResult('Here today.') } };

/**
 * A server with everything that the referee's scenarios need; not connected yet.
 * @param {import('./world.mjs').World} world
 * @param {'modern' | 'legacy'} era tasks are an extension of the modern era only
 */
export function createServer(world, era) {
  const server = new Server(
    { name: 'conformance-upstream', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        logging: {},
        completions: {},
        ...(era === 'modern' && { extensions: { [EXTENSION]: {} } }),
      },
      cacheHints: { 'tools/list': HINT, 'prompts/list': HINT, 'resources/list': HINT },
      requestState: { verify: states.verify },
    },
  );
  serveTools(server, world, era);
  serveResources(server);
  servePrompts(server, world);
  if (era === 'modern') serveTasks(server, world);
  return server;
}

/**
 * @param {Server} server
 * @param {import('./world.mjs').World} world
 * @param {'modern' | 'legacy'} era
 */
function serveTools(server, world, era) {
  const tools = () => ({
    ...PLAIN_TOOLS,
    ...(era === 'modern' && TASK_TOOLS),
    ...(world.hasExtra('tools') && EXTRA),
  });
  server.setRequestHandler('tools/list', () => ({
    tools: Object.entries(tools()).map(([name, { inputSchema = NO_ARGUMENTS }]) => ({
      name,
      description: `The tool ${name}`,
      inputSchema,
    })),
  }));
  server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }, context) => {
    const tool = tools()[name];
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
    return tool.run(args, { context, world });
  });
}
