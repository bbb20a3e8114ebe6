import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Call, FixtureTool } from '../kernel/behaviour.js';
import { Flags } from '../kernel/flags.js';
import { notify } from '../kernel/messages.js';
import { ANSWERED } from '../kernel/methods.js';
import { serve } from '../serve.js';
import { createEchoTool } from '../tools/basic-tools.js';
import { createTool, toText } from '../tools/tool.js';

// Responses that are too large, too deep or endless; the arguments say how much. Every amount is bounded.
const MAX_BYTES = 512 * 1024 * 1024;
const CHUNK = 'x'.repeat(64 * 1024);

function createSizedTool(
  name: string,
  description: string,
  run: (size: number, call: Call) => unknown,
): FixtureTool {
  const options = { name, description, input: { size: { type: 'integer', minimum: 1, maximum: MAX_BYTES } } };
  return createTool(options, ({ size }, call) => run(Math.min(Number(size), MAX_BYTES), call));
}

function toResult(call: Call, inner: string): string {
  const head = call.era === 'modern' ? '"resultType":"complete",' : '';
  return `{${head}${inner}}`;
}

function toSizedResult(call: Call, size: number): string {
  return toResult(call, `"content":[{"type":"text","text":"${'x'.repeat(size)}"}]`);
}

/** Sends a prepared JSON text as the response: member order and depth stay as written. */
function answerWith(call: Call, text: string): typeof ANSWERED {
  call.reply.deliver(text, { final: true });
  return ANSWERED;
}

async function flood(call: Call, size: number, write: (chunk: string) => void): Promise<void> {
  for (let written = 0; written < size && !call.signal.aborted; written += CHUNK.length) {
    write(CHUNK);
    await nextTurn();
  }
}

const tools = [
  createEchoTool(),
  createSizedTool('answer', 'A text of so many bytes in one message', (size) => toText('x'.repeat(size))),
  createSizedTool('id_first', 'The id before the result', (size, call) =>
    answerWith(
      call,
      `{"id":${JSON.stringify(call.id)},"jsonrpc":"2.0","result":${toSizedResult(call, size)}}`,
    ),
  ),
  createSizedTool('id_last', 'The id after the result', (size, call) =>
    answerWith(
      call,
      `{"result":${toSizedResult(call, size)},"jsonrpc":"2.0","id":${JSON.stringify(call.id)}}`,
    ),
  ),
  createSizedTool('deep', 'structuredContent of so many levels', (size, call) => {
    const inner = `"content":[],"structuredContent":{"deep":${'['.repeat(size)}${']'.repeat(size)}}`;
    const id = JSON.stringify(call.id);
    return answerWith(call, `{"jsonrpc":"2.0","id":${id},"result":${toResult(call, inner)}}`);
  }),
  createSizedTool('stderr_flood', 'So many bytes on stderr, then an answer', async (size, call) => {
    await flood(call, size, (chunk) =>
      process.stderr.write(`${chunk}
`),
    );
    return toText('flooded');
  }),
  createSizedTool('stdout_flood', 'So many bytes of junk lines before the answer', async (size, call) => {
    await flood(call, size, (chunk) => call.reply.writeRaw(`${chunk}\n`));
    return toText('flooded');
  }),
  createSizedTool(
    'notification_flood',
    'So many bytes of log messages before the answer',
    async (size, call) => {
      const params = { level: 'info', data: CHUNK };
      await flood(call, size, () => notify(call.reply, 'notifications/message', params));
      return toText('flooded');
    },
  ),
  createSizedTool(
    'endless_line',
    'So many bytes without a line end, and never an answer',
    async (size, call) => {
      call.reply.writeRaw(
        `{"jsonrpc":"2.0","id":${JSON.stringify(call.id)},"result":{"content":[{"type":"text","text":"`,
      );
      await flood(call, size, (chunk) => call.reply.writeRaw(chunk));
      return new Promise(() => {});
    },
  ),
];

await serve({ name: 'oversized', tools }, { flags: new Flags() });
