import { temporaryDirectory } from '@turnbuckle/testing';
import { createRuntime, type Runtime, type RuntimeOptions } from 'turnbuckle';

/** A runtime without state of other tests: its state directory is removed with this process. */
export async function createOwnRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const home = await temporaryDirectory();
  return createRuntime({ stateDir: home.path, ...options });
}
