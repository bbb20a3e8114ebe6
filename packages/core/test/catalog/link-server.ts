/** An in-process server: a test sees each link, and decides what it answers and when. */
import type { ServerInput } from 'turnbuckle';
import { type Definition, toolNamed } from '../policy/tiny-server.js';

interface Message {
  readonly id?: number | string;
  readonly method?: string;
}

interface Wire {
  onmessage?: (message: Message) => void;
  start(): Promise<void>;
  send(message: unknown): Promise<void>;
}

export interface ServerLink {
  /** 0 for the first link. */
  readonly index: number;
  /** How often its tools were listed. */
  lists: number;
  /** Sends `notifications/tools/list_changed`. */
  announce(): void;
}

type Listed = readonly Definition[] | Promise<readonly Definition[]>;

export class LinkServer {
  readonly links: ServerLink[] = [];
  /** The tools of a link. If it throws or rejects, the response is an error. */
  tools: (link: ServerLink) => Listed;
  /** Error codes for the next calls, one per call. */
  readonly refusals: number[] = [];

  constructor(tools: (link: ServerLink) => Listed) {
    this.tools = tools;
  }

  config(more: object = {}): ServerInput {
    return { type: 'in-process', server: this, era: 'legacy', trusted: true, ...more };
  }

  async connect(given: never): Promise<void> {
    const wire = given as Wire;
    const say = (message: object): void => void wire.send({ jsonrpc: '2.0', ...message }).catch(() => {});
    const announce = (): void => say({ method: 'notifications/tools/list_changed' });
    const link: ServerLink = { index: this.links.length, lists: 0, announce };
    this.links.push(link);
    wire.onmessage = async ({ id, method }) => {
      if (id === undefined) return;
      try {
        say({ id, result: await this.#resultOf(link, method) });
      } catch (error) {
        const code = typeof error === 'number' ? error : -32603;
        say({ id, error: { code, message: 'no' } });
      }
    };
    await wire.start();
  }

  async #resultOf(link: ServerLink, method: string | undefined): Promise<unknown> {
    if (method === 'initialize')
      return {
        protocolVersion: '2025-11-25',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'links', version: '1' },
      };
    if (method === 'tools/list') {
      link.lists += 1;
      return { tools: await this.tools(link) };
    }
    if (method !== 'tools/call') return {};
    const refusal = this.refusals.shift();
    if (refusal !== undefined) throw refusal;
    return { content: [{ type: 'text', text: String(link.index) }] };
  }
}

export const only = (...names: string[]): readonly Definition[] => names.map((name) => toolNamed(name));

/** A promise that a test resolves. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
