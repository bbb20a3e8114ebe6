/** A model server that speaks the wire of Anthropic's messages, without a model: a function chooses each answer. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AnthropicRequest {
  readonly model: string;
  readonly system: unknown;
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: unknown }>;
  readonly tools: readonly string[];
  readonly key: string | undefined;
}

export interface AnthropicAnswer {
  readonly text?: string;
  readonly calls?: ReadonlyArray<{ readonly name: string; readonly input: object }>;
}

export interface AnthropicModel {
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly requests: readonly AnthropicRequest[];
  close(): Promise<void>;
}

interface Body {
  readonly model: string;
  readonly system?: unknown;
  readonly messages: AnthropicRequest['messages'];
  readonly tools?: ReadonlyArray<{ readonly name: string }>;
}

export async function startAnthropicModel(
  answer: (request: AnthropicRequest) => AnthropicAnswer,
): Promise<AnthropicModel> {
  const requests: AnthropicRequest[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const { model, system, messages, tools = [] } = JSON.parse(Buffer.concat(parts).toString()) as Body;
    const key = request.headers['x-api-key'];
    const seen = {
      ...{ model, system, messages },
      tools: tools.map(({ name }) => name),
      key: typeof key === 'string' ? key : undefined,
    };
    requests.push(seen);
    const { text, calls = [] } = answer(seen);
    const uses = calls.map(({ name, input }, index) => ({
      ...{ type: 'tool_use', id: `toolu_${requests.length}_${index}`, name, input },
    }));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        id: `msg_${requests.length}`,
        type: 'message',
        role: 'assistant',
        model,
        content: [...(text === undefined ? [] : [{ type: 'text', text }]), ...uses],
        stop_reason: uses.length > 0 ? 'tool_use' : 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 7, output_tokens: 5 },
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
