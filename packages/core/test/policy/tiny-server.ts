/** A server inside the process whose tools are data that a test can change at any moment. */
import type { ServerInput } from 'turnbuckle';

export type Definition = Readonly<Record<string, unknown>> & { readonly name: string };

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

interface Wire {
  onmessage?: (message: Message) => void;
  start(): Promise<void>;
  send(message: unknown): Promise<void>;
}

export class TinyServer {
  tools: readonly Definition[];
  /** The names of the tools that were called. */
  readonly calls: string[] = [];
  /** What was asked for beside lists. */
  readonly requests: string[] = [];
  onRequest: ((method: string) => void) | undefined;
  /** It answers nothing any more. */
  isSilent = false;
  /** A method that it does not answer. */
  silentAbout: string | undefined;
  /** Its calls are not answered before this is over. */
  held: Promise<void> | undefined;
  /** How often its tools were listed. */
  lists = 0;
  /** What it answers by method, where that is not the usual. */
  readonly answers: Record<string, unknown> = {};
  #wire: Wire | undefined;

  constructor(tools: readonly Definition[]) {
    this.tools = tools;
  }

  /** How a runtime is told of it. */
  config(more: object = {}): ServerInput {
    return { type: 'in-process', server: this, era: 'legacy', ...more };
  }

  async connect(wire: never): Promise<void> {
    this.#wire = wire as Wire;
    this.#wire.onmessage = (message) => this.#answer(message);
    await this.#wire.start();
  }

  /** Tells its clients that the tools are others now. */
  announce(): void {
    void this.#wire?.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  }

  #answer({ id, method, params }: Message): void {
    if (id === undefined || this.isSilent || method === this.silentAbout) return;
    const wire = this.#wire;
    if (method !== undefined) this.onRequest?.(method);
    if (/^(?:tools\/call|resources\/read|prompts\/get)$/.test(method ?? '')) this.requests.push(method ?? '');
    const answer = { jsonrpc: '2.0', id, result: this.#resultOf(method, params) };
    if (method !== 'tools/call' || this.held === undefined) void wire?.send(answer);
    else void this.held.then(() => wire?.send(answer));
  }

  #resultOf(method: string | undefined, params: Message['params']): unknown {
    if (method === 'initialize')
      return {
        protocolVersion: '2025-11-25',
        capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
        serverInfo: { name: 'tiny', version: '1' },
      };
    if (method === 'tools/list') {
      this.lists += 1;
      return { tools: this.tools };
    }
    if (method === 'tools/call') {
      this.calls.push(String(params?.name));
      if (this.answers[method] !== undefined) return this.answers[method];
      return { content: [{ type: 'text', text: `called ${String(params?.name)}` }] };
    }
    if (method !== undefined && this.answers[method] !== undefined) return this.answers[method];
    if (method === 'resources/read') return { contents: [{ uri: params?.uri, text: 'content' }] };
    if (method === 'prompts/get') return { messages: [] };
    return {};
  }
}

export const toolNamed = (name: string, more: object = {}): Definition => ({
  name,
  description: `The tool ${name}`,
  inputSchema: { type: 'object' },
  ...more,
});
