import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createRandom } from './seeded-random.js';
import { findToxic, type Toxic, worksOn } from './toxic.js';
import { ToxicPipe } from './toxic-pipe.js';

export interface ToxicProxyOptions {
  /** The URL of the server whose traffic passes through the proxy. */
  readonly target: string;
  readonly seed?: number;
}

interface Connection {
  readonly client: Socket;
  readonly server: Socket;
  timers: NodeJS.Timeout[];
}

/** A TCP proxy on 127.0.0.1 that disturbs the traffic with toxics, which can change while it runs. */
export class ToxicProxy {
  readonly #target: URL;
  readonly #random: () => number;
  readonly #connections = new Set<Connection>();
  #listener: Server | undefined;
  #port = 0;
  #toxics: readonly Toxic[] = [];

  private constructor({ target, seed = 1 }: ToxicProxyOptions) {
    this.#target = new URL(target);
    this.#random = createRandom(seed);
  }

  /** Starts listening, with no toxics. */
  static async start(options: ToxicProxyOptions): Promise<ToxicProxy> {
    const proxy = new ToxicProxy(options);
    await proxy.#listen();
    return proxy;
  }

  /** The target's URL with the proxy's port. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = '127.0.0.1';
    url.port = String(this.#port);
    return url.href;
  }

  /** Connections open right now. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Replaces all toxics, also for open connections; without toxics the traffic is undisturbed. */
  async set(...toxics: Toxic[]): Promise<void> {
    // These streams have lost bytes and cannot continue.
    if (findToxic(this.#toxics, 'timeout')) this.#cut();
    this.#toxics = toxics;
    for (const connection of this.#connections) this.#armTimers(connection);
    if (findToxic(toxics, 'down')) await this.#unlisten();
    else if (this.#listener === undefined) await this.#listen();
  }

  /** Cuts every connection and frees the port. */
  async close(): Promise<void> {
    await this.#unlisten();
  }

  async #listen(): Promise<void> {
    // The same port after `down`: clients must find the server where it was.
    const listener = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
    listener.listen(this.#port, '127.0.0.1');
    await once(listener, 'listening');
    const address = listener.address();
    if (address !== null && typeof address === 'object') this.#port = address.port;
    this.#listener = listener;
  }

  async #unlisten(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    this.#cut();
    if (listener) await new Promise((resolve) => listener.close(resolve));
  }

  #cut(): void {
    for (const connection of this.#connections) destroyBoth(connection);
  }

  #accept(client: Socket): void {
    const server = connect({
      host: this.#target.hostname,
      port: Number(this.#target.port),
      allowHalfOpen: true,
    });
    const connection: Connection = { client, server, timers: [] };
    this.#connections.add(connection);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy());
      socket.on('close', () => this.#release(connection, other));
    }
    const shared = { random: this.#random, reset: () => resetBoth(connection) };
    new ToxicPipe({ ...shared, source: client, sink: server, toxics: () => this.#toxicsOf('upstream') });
    new ToxicPipe({ ...shared, source: server, sink: client, toxics: () => this.#toxicsOf('downstream') });
    this.#armTimers(connection);
  }

  #release(connection: Connection, other: Socket): void {
    if (!other.destroyed) return;
    for (const timer of connection.timers) clearTimeout(timer);
    this.#connections.delete(connection);
  }

  #toxicsOf(way: 'upstream' | 'downstream'): readonly Toxic[] {
    return this.#toxics.filter((toxic) => worksOn(toxic, way));
  }

  #armTimers(connection: Connection): void {
    for (const timer of connection.timers) clearTimeout(timer);
    connection.timers = [];
    const timeout = findToxic(this.#toxics, 'timeout');
    const reset = findToxic(this.#toxics, 'reset-peer');
    const arm = (act: (connection: Connection) => void, afterMs?: number) => {
      if (afterMs !== undefined) connection.timers.push(setTimeout(() => act(connection), afterMs));
    };
    arm(destroyBoth, timeout?.closeAfterMs);
    arm(resetBoth, reset?.afterMs);
  }
}

function destroyBoth({ client, server }: Connection): void {
  client.destroy();
  server.destroy();
}

function resetBoth({ client, server }: Connection): void {
  client.resetAndDestroy();
  server.resetAndDestroy();
}
