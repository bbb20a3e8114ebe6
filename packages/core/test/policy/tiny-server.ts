/** An in-process server whose tools a test can change at any time. */
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
  /** The methods of all requests except lists. */
  readonly requests: string[] = [];
  onRequest: ((method: string) => void) | undefined;
  /** If true, it does not respond any more. */
  isSilent = false;
  /** A method that it does not respond to. */
  silentAbout: string | undefined;
  /** Its calls are answered when this resolves. */
  held: Promise<void> | undefined;
  /** How often its tools were listed. */
  lists = 0;
  /** Custom results by method. */
  readonly answers: Record<string, unknown> = {};
  #wire: Wire | undefined;

  constructor(tools: readonly Definition[]) {
    this.tools = tools;
  }

  /** Its configuration for a runtime. */
  config(more: object = {}): ServerInput {
    return { type: 'in-process', server: this, era: 'legacy', ...more };
  }

  async connect(wire: never): Promise<void> {
    this.#wire = wire as Wire;
    this.#wire.onmessage = (message) => this.#answer(message);
    await this.#wire.start();
  }

  /** Sends `notifications/tools/list_changed`. */
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
    // The connection may be closed by then.
    else void this.held.then(() => wire?.send(answer)).catch(() => {});
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
