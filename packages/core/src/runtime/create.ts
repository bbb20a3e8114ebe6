import { registerResourceTools } from './resource-tools.js';
import { Runtime } from './runtime.js';
import type { RuntimeOptions } from './runtime-options.js';

/**
 * Makes a runtime for these servers. Starts nothing yet: call `connectAll()`, or just call a tool. A server
 * whose configuration cannot be used is a failed one in `status()`; it never keeps the others from working.
 * `beside` another runtime it is for the same agents: it knows the same secrets and asks the same people.
 */
export async function createRuntime(options: RuntimeOptions = {}, beside?: Runtime): Promise<Runtime> {
  const { parseServers } = await import('./config/parse.js');
  const runtime = new Runtime(options, parseServers, beside);
  if (options.rules !== undefined) {
    const { parseRules } = await import('./config/read-rules.js');
    runtime.setRules(parseRules(options.rules));
  }
  await runtime.pins.load();
  runtime.adoptServers(options.servers ?? {});
  if (options.resourceTools === true) registerResourceTools(runtime);
  return runtime;
}
