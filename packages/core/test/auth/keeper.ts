import { createServer, type Server, request as send } from 'node:http';
import { type RunningFixture, startFixture } from '@turnbuckle/testing';
import { onTestFinished } from 'vitest';

/** A server that accepts requests with the expected header, and counts the others. */
export class Keeper {
  value: string;
  refused = 0;
  requests = 0;
  readonly #header: string;
  readonly #server: Server;

  private constructor({ header, value }: { header: string; value: string }, inner: RunningFixture) {
    this.#header = header;
    this.value = value;
    this.#server = createServer((request, response) => {
      this.requests += 1;
      if (request.headers[this.#header] !== this.value) {
        this.refused += 1;
        request.resume();
        response.writeHead(401).end();
        return;
      }
      const passed = send(inner.url, { method: request.method, headers: request.headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      passed.on('error', () => response.destroy());
      response.on('close', () => passed.destroy());
      request.pipe(passed);
    });
  }

  static async start(expected: { header: string; value: string }): Promise<Keeper> {
    const inner = await startFixture('echo', { transport: 'http' });
    const keeper = new Keeper(expected, inner);
    await new Promise<void>((resolve) => keeper.#server.listen(0, '127.0.0.1', resolve));
    onTestFinished(async () => {
      keeper.#server.closeAllConnections();
      keeper.#server.close();
      await inner.stop();
    });
    return keeper;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/mcp`;
  }
}
