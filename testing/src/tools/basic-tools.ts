import type { FixtureTool } from '../kernel/behaviour.js';
import { RpcError } from '../kernel/rpc-error.js';
import { createTool, toFailure, toText } from './tool.js';

const number = { type: 'number' };
const integer = { type: 'integer' };
const string = { type: 'string' };

/** Returns its text: the tool that nearly every fixture has. */
export function createEchoTool(): FixtureTool {
  return createTool(
    { name: 'echo', description: 'Gives the text back', input: { text: string } },
    ({ text }) => toText(String(text)),
  );
}

/** Tools that return at once and have no effect. */
export function createBasicTools(): FixtureTool[] {
  return [
    createEchoTool(),
    createTool(
      {
        name: 'add',
        title: 'Add two numbers',
        description: 'Adds two numbers',
        input: { a: number, b: number },
        outputSchema: { type: 'object', properties: { sum: number }, required: ['sum'] },
        annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
      },
      ({ a, b }) => {
        const sum = Number(a) + Number(b);
        return { ...toText(JSON.stringify({ sum })), structuredContent: { sum } };
      },
    ),
    createTool({ name: 'fail', description: 'Answers with isError' }, () => toFailure('failed as asked')),
    createTool({ name: 'env', description: 'The environment of this process as JSON' }, () =>
      toText(JSON.stringify(process.env)),
    ),
    createTool({ name: 'pid', description: 'The process id' }, () => toText(String(process.pid))),
    createTool({ name: 'cwd', description: 'The working directory' }, () => toText(process.cwd())),
    createTool({ name: 'meta', description: 'The _meta of this call as JSON' }, (_, { meta }) =>
      toText(JSON.stringify(meta)),
    ),
    createTool(
      { name: 'rpc_error', description: 'Answers a JSON-RPC error', input: { code: integer }, required: [] },
      ({ code = -32050 }) => {
        throw new RpcError(Number(code), 'error as asked', { data: { reason: 'asked' } });
      },
    ),
    createTool(
      { name: 'big', description: 'A text of so many bytes', input: { bytes: integer } },
      ({ bytes }) => toText('x'.repeat(Number(bytes))),
    ),
    createTool(
      {
        name: 'header',
        description: 'Its region also travels as an HTTP header in the modern era',
        input: {
          region: { ...string, 'x-mcp-header': 'Region' },
          level: { ...integer, 'x-mcp-header': 'Level' },
          dry: { type: 'boolean', 'x-mcp-header': 'Dry-Run' },
          nested: { type: 'object', properties: { zone: { ...string, 'x-mcp-header': 'Zone' } } },
        },
        required: ['region'],
      },
      (args) => toText(JSON.stringify(args)),
    ),
  ];
}
