import type { Runtime, RuntimeOptions } from 'turnbuckle';
import { createOwnRuntime } from './own-runtime.js';

/** A connected runtime for the duration of a test. */
export async function withRuntime(
  options: RuntimeOptions,
  test: (runtime: Runtime) => Promise<void>,
): Promise<void> {
  const runtime = await createOwnRuntime(options);
  try {
    await runtime.connectAll();
    await test(runtime);
  } finally {
    await runtime.close();
  }
}

/** The text of a tool's result. */
export async function say(runtime: Runtime, server: string, text: string): Promise<string> {
  const result = await runtime.callTool(server, 'echo', { text }, { timeoutMs: 10_000 });
  const [part] = result.content;
  return part?.type === 'text' ? part.text : '';
}
