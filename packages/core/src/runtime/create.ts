import type { ParsedServers } from '../config/layers/parse.js';
import type { ServersInput } from '../config/schema/schema.js';
import { isRecord } from '../json/is-record.js';
import { findTelemetry } from '../telemetry/find-telemetry.js';
import type { RuntimeOptions } from './options.js';
import { setResourceTools } from './resource-tools.js';
import { Runtime } from './runtime.js';

/**
 * Creates a runtime for these servers. Connects nothing yet: call `connectAll()`, or just call a tool. A server with
 * an unusable configuration is `failed` in `status()` and does not affect the others. A `sibling` runtime for the
 * same agents shares secrets and approvers.
 */
export async function createRuntime(options: RuntimeOptions = {}, sibling?: Runtime): Promise<Runtime> {
  const { parseServers } = await import('../config/layers/parse.js');
  const { parseDefaults, withDefaults } = await import('../config/layers/server-defaults.js');
  const defaults = parseDefaults(options.defaults);
  const telemetry = await findTelemetry(options.telemetry);
  const runtime = new Runtime(
    { ...options, telemetry },
    (servers) =>
      isParsed(servers) ? servers : parseServers(servers, (entry) => withDefaults(entry, defaults)),
    sibling,
  );
  if (options.rules !== undefined) {
    const { parseRules } = await import('../config/layers/read-rules.js');
    runtime.setRules(parseRules(options.rules));
  }
  // Both take some milliseconds.
  const loading = runtime.pins.load();
  runtime.adoptServers(options.servers ?? {});
  await loading;
  if (options.resourceTools === true) setResourceTools(runtime, 'everywhere');
  return runtime;
}

/** Only parsed servers are in a map: input from files and code is plain objects. */
const isParsed = (servers: ServersInput | ParsedServers): servers is ParsedServers =>
  isRecord(servers) && servers.servers instanceof Map;
