/** The servers of a runtime, for commands that print what they list: a server may repeat in it what it was given. */
import type { Runtime } from 'turnbuckle';
import type { Servers } from './servers.js';

/** Redacts what is listed and reported about servers; requests to them are not changed. */
export function redactedServers(runtime: Runtime): Servers {
  const clean = <T>(value: T): T => mapTexts(value, (text) => String(runtime.redact(text))) as T;
  const { catalog } = runtime;
  return {
    connect: (...given) => runtime.connect(...given),
    serverNames: () => runtime.serverNames(),
    status: () => clean(runtime.status()),
    serverStatus: (server) => clean(runtime.serverStatus(server)),
    ping: (...given) => runtime.ping(...given),
    energy: runtime.energy,
    tools: () => clean(runtime.tools()),
    catalog: {
      find: (...given) => clean(catalog.find(...given)),
      get: (...given) => clean(catalog.get(...given)),
      listByServer: (server) => clean(catalog.listByServer(server)),
    },
    listResources: async (...given) => clean(await runtime.listResources(...given)),
    listResourceTemplates: async (...given) => clean(await runtime.listResourceTemplates(...given)),
    listPrompts: async (...given) => clean(await runtime.listPrompts(...given)),
    readResource: (...given) => runtime.readResource(...given),
    getPrompt: (...given) => runtime.getPrompt(...given),
  };
}

/** Each text, and each key; errors and the like have lost theirs already. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((part) => mapTexts(part, change));
  if (typeof value !== 'object' || value === null || value instanceof Error) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [change(key), mapTexts(part, change)]),
  );
}
