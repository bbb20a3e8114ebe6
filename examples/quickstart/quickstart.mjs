import assert from 'node:assert/strict';
import { McpServer } from '@modelcontextprotocol/server';
import { createRuntime } from 'turnbuckle';
import { z } from 'zod';

// Any MCP server will do: a command, an http address, or, as here, one in this very process.
const kitchen = new McpServer({ name: 'kitchen', version: '1.0.0' });
const order = { description: 'Cooks a dish', inputSchema: z.object({ dish: z.string() }) };
kitchen.registerTool('cook', order, ({ dish }) => ({
  content: [{ type: 'text', text: `One ${dish}, hot.` }],
}));

const runtime = await createRuntime({ servers: { kitchen: { type: 'in-process', server: kitchen } } });
await runtime.connectAll();
console.log(runtime.tools().map((tool) => tool.name)); // [ 'mcp__kitchen__cook' ]

const result = await runtime.call({ tool: 'mcp__kitchen__cook', arguments: { dish: 'soup' } });
console.log(result.content[0]); // { type: 'text', text: 'One soup, hot.' }
await runtime.close();

assert.deepEqual(result.content, [{ type: 'text', text: 'One soup, hot.' }]);
