/** Finds the OpenTelemetry of the host. Nothing is loaded if the host does not use it. */
import { isRecord } from '../json/is-record.js';
import type { ClientTelemetry } from './client-telemetry.js';
import { createOpenTelemetry, type OpenTelemetryApi } from './open-telemetry.js';

/** Where every copy of `@opentelemetry/api` 1.x registers the providers of the process. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1');

/** The host's API, an own observer, or false for none. Absent: the host's, if it has registered a tracer provider. */
export type TelemetryOption = OpenTelemetryApi | ClientTelemetry | false | undefined;

export async function findTelemetry(option: TelemetryOption): Promise<ClientTelemetry | undefined> {
  if (option === false) return undefined;
  if (option !== undefined && 'startRequest' in option) return option;
  const api = option ?? (await loadRegisteredApi());
  return api && createOpenTelemetry(api);
}

async function loadRegisteredApi(): Promise<OpenTelemetryApi | undefined> {
  const registered: unknown = Reflect.get(globalThis, REGISTRY);
  if (!isRecord(registered) || registered.trace === undefined) return undefined;
  // In a variable: an optional peer dependency that is missing is no error for a bundler.
  const name = '@opentelemetry/api';
  try {
    return await import(name);
  } catch {
    return undefined;
  }
}
