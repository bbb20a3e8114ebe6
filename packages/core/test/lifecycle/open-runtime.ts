import { temporaryDirectory } from '@turnbuckle/testing';
import { createRuntime, type Runtime, type RuntimeEvents, type RuntimeOptions } from 'turnbuckle';
import { onTestFinished } from 'vitest';

/**
 * A runtime with its own state directory, closed at the end of the test. Tests that run concurrently with
 * others pass their own `onTestFinished`.
 */
export async function openRuntime(
  options: RuntimeOptions,
  whenFinished: typeof onTestFinished = onTestFinished,
): Promise<Runtime> {
  const directory = await temporaryDirectory();
  const runtime = await createRuntime({ stateDir: directory.path, ...options });
  whenFinished(async () => {
    await runtime.close();
    await directory.remove();
  });
  return runtime;
}

/** Every event of this name from now on, in order. */
export function record<Name extends keyof RuntimeEvents>(
  runtime: Runtime,
  name: Name,
): Array<RuntimeEvents[Name]> {
  const events: Array<RuntimeEvents[Name]> = [];
  runtime.on(name, (event) => events.push(event));
  return events;
}

/** The text of a result's first part. */
export function textOf(result: { readonly content: ReadonlyArray<object> }): string {
  const [part] = result.content;
  return part !== undefined && 'text' in part ? String(part.text) : '';
}

/** Reconnects quickly and predictably: 20, 40, 80 ms, then a slow probe each 150 ms. */
export const QUICK = { initialMs: 20, factor: 2, maxMs: 1_000, tries: 3, probeMs: 150, jitter: 0 };

/** Long enough that no test sees a second attempt. */
export const ONCE = { initialMs: 600_000, maxMs: 600_000, probeMs: 0 };
