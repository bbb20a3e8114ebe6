/** A server that asks back, on each way by which its questions can come in, and what becomes of them. */
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

/** Both eras, and each of the two that make a handshake: our own over channels, the SDK's client elsewhere. */
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
  /** The answers that the server got. */
  ask(kind: string, options?: AskOptions): Promise<Record<string, unknown>[]>;
  /** What the server was told that it may ask. */
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
