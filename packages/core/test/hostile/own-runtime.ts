import { temporaryDirectory } from '@turnbuckle/testing';
import { createRuntime, type Runtime, type RuntimeOptions } from 'turnbuckle';

/** A runtime that remembers nothing of other tests: its state lies in a directory that goes with this process. */
export async function createOwnRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const home = await temporaryDirectory();
  return createRuntime({ stateDir: home.path, ...options });
}
