/** A server that sends requests, over each transport and lane, and the outcome of these requests. */
import { fixture, type RunningFixture, startFixture } from '@turnbuckle/testing';
import {
  createRuntime,
  type Runtime,
  type RuntimeEvents,
  type RuntimeOptions,
  type ServerInput,
} from 'turnbuckle';

export interface Way {
  readonly title: string;
  readonly transport: 'stdio' | 'http';
  readonly era: 'legacy' | 'modern';
  readonly expressLane: boolean;
}

/** Both eras, and both implementations of the handshake: our own over channels, the SDK's client elsewhere. */
export const WAYS: readonly Way[] = (['legacy', 'modern'] as const).flatMap((era) => [
  { title: `${era}, stdio`, transport: 'stdio', era, expressLane: true },
  { title: `${era}, stdio over the SDK`, transport: 'stdio', era, expressLane: false },
  { title: `${era}, HTTP`, transport: 'http', era, expressLane: true },
]);

export interface AskOptions {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly times?: number;
  readonly atOnce?: boolean;
  readonly rude?: boolean;
}

export interface Asked {
  readonly runtime: Runtime;
  readonly events: RuntimeEvents['server.asked'][];
  /** The answers that the server received. */
  ask(kind: string, options?: AskOptions): Promise<Record<string, unknown>[]>;
  /** The client capabilities that were announced to the server. */
  offered(): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export async function openAsked(
  way: Way,
  options: Omit<RuntimeOptions, 'servers'> & { readonly mayAsk?: ServerInput['mayAsk'] },
): Promise<Asked> {
  const { mayAsk, ...rest } = options;
  const flags = ['--era', way.era];
  const web: RunningFixture | undefined =
    way.transport === 'http' ? await startFixture('asking', { transport: 'http', flags }) : undefined;
  const config: ServerInput = web === undefined ? fixture('asking', ...flags) : { url: web.url };
  const runtime = await createRuntime({
    servers: { asker: { ...config, ...(mayAsk !== undefined && { mayAsk }) } },
    expressLane: way.expressLane,
    ...rest,
  });
  const events: RuntimeEvents['server.asked'][] = [];
  runtime.on('server.asked', (event) => events.push(event));
  const call = async (tool: string, args: Record<string, unknown>): Promise<unknown> => {
    const { content } = await runtime.callTool('asker', tool, args, { timeoutMs: 20_000 });
    const [first] = content;
    return JSON.parse(first?.type === 'text' ? first.text : 'null');
  };
  return {
    runtime,
    events,
    ask: async (kind, asked = {}) => (await call('ask', { kind, ...asked })) as Record<string, unknown>[],
    offered: async () => (await call('offered', {})) as Record<string, unknown>,
    close: async () => {
      await runtime.close();
      await web?.stop();
    },
  };
}

/** The params of a form with these fields. */
export const form = (properties: Readonly<Record<string, unknown>>, message = 'Please fill this in') => ({
  message,
  requestedSchema: { type: 'object', properties },
});
