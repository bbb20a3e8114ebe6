import { type TemporaryDirectory, temporaryDirectory } from '@turnbuckle/testing';
import { createRuntime, type Runtime, type RuntimeOptions, type ServerInput } from 'turnbuckle';
import type { Port, Setting } from './setting.js';

/** The runtimes and servers of one cell, closed together. */
export class Stage {
  readonly #setting: Setting;
  readonly #ports: Port[] = [];
  readonly #runtimes: Runtime[] = [];
  #home: TemporaryDirectory | undefined;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  async server(...[fixture, ...flags]: Parameters<Setting['open']>): Promise<ServerInput> {
    const port = await this.#setting.open(fixture, '--era', this.#setting.era, ...flags);
    this.#ports.push(port);
    return port.config;
  }

  async runtime(servers: Record<string, ServerInput>, options: RuntimeOptions = {}): Promise<Runtime> {
    this.#home ??= await temporaryDirectory();
    const { expressLane } = this.#setting;
    const runtime = await createRuntime({ servers, expressLane, stateDir: this.#home.path, ...options });
    this.#runtimes.push(runtime);
    await runtime.connectAll();
    return runtime;
  }

  async close(): Promise<void> {
    await Promise.all(this.#runtimes.map((runtime) => runtime.close()));
    await Promise.all(this.#ports.map((port) => port.close()));
    await this.#home?.remove();
  }
}
