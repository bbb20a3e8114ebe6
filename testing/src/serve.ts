import type { Behaviour } from './kernel/behaviour.js';
import { FixtureServer } from './kernel/fixture-server.js';
import { Flags } from './kernel/flags.js';
import { toDialect } from './kernel/revisions.js';
import type { Gate } from './transports/http.js';
import { type StdioWriter, serveStdio } from './transports/stdio.js';

interface ServeOptions {
  readonly flags?: Flags;
  /** Replaces the function that writes messages to stdout. */
  readonly write?: StdioWriter;
  /** Handles HTTP requests before the server. */
  readonly gate?: Gate;
  readonly outliveStdin?: boolean;
}

/**
 * Runs a behaviour on the transport that the command line names. Flags of every fixture: `--transport`, `--era`,
 * `--revision`, `--ttl-ms`, `--cache-scope`; over a network also `--port`, `--outlive-stdin`, and for HTTP
 * `--answers auto|json|sse`, `--stateless`, `--forget-after <posts>`.
 */
export async function serve(behaviour: Behaviour, options: ServeOptions = {}): Promise<void> {
  const { flags = new Flags() } = options;
  const server = new FixtureServer(behaviour, {
    dialect: toDialect(flags.text('era', 'both'), flags.text('revision')),
    cache: {
      ttlMs: flags.number('ttl-ms', 0),
      cacheScope: flags.choice('cache-scope', ['private', 'public']),
    },
  });
  const transport = flags.choice('transport', ['stdio', 'http', 'sse', 'websocket']);
  const outliveStdin = options.outliveStdin ?? flags.on('outlive-stdin');
  const network = { port: flags.number('port', 0), outliveStdin };
  // Network transports are loaded on demand: a stdio fixture must start in a few dozen milliseconds.
  if (transport === 'stdio') {
    serveStdio(server, { outliveStdin, ...(options.write && { write: options.write }) });
  } else if (transport === 'sse') {
    const { serveSse } = await import('./transports/sse.js');
    await serveSse(server, network);
  } else if (transport === 'websocket') {
    const { serveWebSocket } = await import('./transports/websocket.js');
    await serveWebSocket(server, network);
  } else {
    const { serveHttp } = await import('./transports/http.js');
    await serveHttp(server, {
      ...network,
      answers: flags.choice('answers', ['auto', 'json', 'sse']),
      stateless: flags.on('stateless'),
      forgetAfter: flags.number('forget-after', 0),
      ...(options.gate && { gate: options.gate }),
    });
  }
}
