/**
 * A model server without a model: a function chooses each answer. It speaks the wire of OpenAI's chat completions over real
 * HTTP, so that whatever talks to it could talk to a model. For the demo and for tests.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod/mini';

const MESSAGE = z.object({
  role: z.string(),
  content: z.optional(z.unknown()),
  tool_calls: z.optional(
    z.array(z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) })),
  ),
  tool_call_id: z.optional(z.string()),
});
const REQUEST = z.object({
  model: z.string(),
  messages: z.array(MESSAGE),
  tools: z.optional(z.array(z.object({ function: z.object({ name: z.string() }) }))),
  max_tokens: z.optional(z.number()),
  stream: z.optional(z.boolean()),
});

/** What the client sent, reduced to what a script needs. */
export interface ScriptedRequest {
  readonly model: string;
  readonly messages: ReadonlyArray<{
    readonly role: string;
    readonly text: string;
    readonly calls: readonly string[];
  }>;
  readonly tools: readonly string[];
  readonly maxTokens: number | undefined;
  readonly authorization: string | undefined;
  /** All of it, as it was sent. */
  readonly body: unknown;
}

export interface ScriptedAnswer {
  readonly text?: string | undefined;
  readonly calls?:
    | ReadonlyArray<{ readonly name: string; readonly input: Readonly<Record<string, unknown>> }>
    | undefined;
  /** An HTTP status other than 200: no answer. */
  readonly status?: number | undefined;
}

export type Script = (request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;

export interface ScriptedServer {
  /** For the settings of a model: ends in /v1. */
  readonly baseUrl: string;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 8 * 1_024 * 1_024;

/** Listens on a free port of this machine only. */
export async function startScriptedServer(script: Script): Promise<ScriptedServer> {
  let count = 0;
  const server = createServer((request, response) => {
    answer(request, script).then(
      ({ model, stream, said }) => {
        count += 1;
        if (said.status !== undefined && said.status !== 200)
          return fail(response, said.status, 'As scripted.');
        const message = { model, id: `scripted-${count}`, said };
        if (stream) sendStream(response, message);
        else sendCompletion(response, message);
      },
      () => fail(response, 400, 'Invalid request.'),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, script: Script) {
  if (request.method !== 'POST' || request.url !== '/v1/chat/completions')
    return { model: '', stream: false, said: { status: 404 } satisfies ScriptedAnswer as ScriptedAnswer };
  const body = await readBody(request);
  const { model, messages, tools = [], max_tokens, stream = false } = z.parse(REQUEST, body);
  const said = await script({
    model,
    messages: messages.map(({ role, content, tool_calls = [] }) => ({
      role,
      text: textOf(content),
      calls: tool_calls.map((call) => call.function.name),
    })),
    tools: tools.map((tool) => tool.function.name),
    maxTokens: max_tokens,
    authorization: request.headers.authorization,
    body,
  });
  return { model, stream, said };
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) throw new Error('The request is too large.');
    parts.push(part);
  }
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}

/** Content is a text, or a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts: unknown[] = Array.isArray(content) ? content : [];
  return parts
    .map((part) => (typeof part === 'object' && part !== null && 'text' in part ? String(part.text) : ''))
    .join('');
}

interface ScriptedMessage {
  readonly model: string;
  readonly id: string;
  readonly said: ScriptedAnswer;
}

const toolCallsOf = ({ id, said: { calls = [] } }: ScriptedMessage) =>
  calls.map(({ name, input }, index) => ({
    index,
    id: `call-${id}-${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));

const USAGE = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
const finishOf = ({ said }: ScriptedMessage): string =>
  (said.calls ?? []).length > 0 ? 'tool_calls' : 'stop';

function sendCompletion(response: ServerResponse, message: ScriptedMessage): void {
  const { model, id, said } = message;
  const calls = toolCallsOf(message);
  const choice = {
    index: 0,
    finish_reason: finishOf(message),
    message: {
      role: 'assistant',
      content: said.text ?? null,
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({ id, object: 'chat.completion', created: 0, model, choices: [choice], usage: USAGE }),
  );
}

function sendStream(response: ServerResponse, message: ScriptedMessage): void {
  const { model, id, said } = message;
  const calls = toolCallsOf(message);
  const send = (delta: object, finish: string | null): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    const chunk = { id, object: 'chat.completion.chunk', created: 0, model, choices };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (said.text !== undefined) send({ role: 'assistant', content: said.text }, null);
  if (calls.length > 0) send({ role: 'assistant', tool_calls: calls }, null);
  send({}, finishOf(message));
  response.end('data: [DONE]\n\n');
}

function fail(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message: text, type: 'scripted' } }));
}
