import { McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';

/** A server of the official SDK with the tools `echo`, `add` and `fail`; not connected yet. */
export function makeSdkServer(): McpServer {
  const server = new McpServer({ name: 'fixture-sdk-echo', version: '1.0.0' });
  server.registerTool(
    'echo',
    { description: 'Gives the text back', inputSchema: z.object({ text: z.string() }) },
    ({ text }) => ({ content: [{ type: 'text', text }] }),
  );
  server.registerTool(
    'add',
    {
      description: 'Adds two numbers',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
      annotations: { readOnlyHint: true, idempotentHint: true },
    },
    ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }], structuredContent: { sum: a + b } }),
  );
  server.registerTool('fail', { description: 'Answers with isError' }, () => ({
    content: [{ type: 'text', text: 'failed as asked' }],
    isError: true,
  }));
  return server;
}
