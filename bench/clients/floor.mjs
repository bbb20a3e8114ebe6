// The least that any client could cost: JSON lines over a pipe, or plain POST requests, without any check.
import { spawn } from 'node:child_process';
import { BareClient } from '../harness/bare-client.mjs';

/** A minimal legacy MCP client over the pipes of a child process. */
class BarePipe {
  #child;
  #pending = new Map();
  #unfinished = '';
  #id = 0;

  /** @param {import('../subjects.mjs').StdioSpec} server */
  constructor({ command, args }) {
    // As the SDK and we do: the variables of the host slow down the start of a Node process.
    const { HOME, PATH } = process.env;
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'], env: { HOME, PATH } });
    this.#child.stdout.setEncoding('utf8').on('data', (chunk) => this.#onText(chunk));
  }

  async initialize() {
    const clientInfo = { name: 'bare', version: '1' };
    await this.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    this.#write({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return this;
  }

  /** @param {string} method @param {object} params */
  request(method, params) {
    this.#id += 1;
    const id = this.#id;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#write({ jsonrpc: '2.0', id, method, params });
    });
  }

  async close() {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin.end();
    await ended;
  }

  #write(message) {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #onText(chunk) {
    const lines = (this.#unfinished + chunk).split('\n');
    this.#unfinished = lines.pop() ?? '';
    for (const line of lines) {
      const { id, result, error } = JSON.parse(line);
      const waiting = this.#pending.get(id);
      this.#pending.delete(id);
      if (result === undefined) waiting?.reject(new Error(JSON.stringify(error)));
      else waiting?.resolve(result);
    }
  }
}

/** @type {import('../subjects.mjs').LoadClient} */
export const load = async () => async (servers) => {
  const links = await Promise.all(
    servers.map(async (server) => {
      const bare = server.transport === 'http' ? new BareClient(server) : new BarePipe(server);
      const client = await bare.initialize();
      const { tools } = await client.request('tools/list', {});
      return { name: server.name, client, toolCount: tools.length };
    }),
  );
  const clients = new Map(links.map(({ name, client }) => [name, client]));
  return {
    toolCount: links.reduce((sum, link) => sum + link.toolCount, 0),
    call: async (server, tool, args) => {
      const result = await clients.get(server).request('tools/call', { name: tool, arguments: args });
      return result.content[0].text;
    },
    close: () => Promise.all(links.map(({ client }) => client.close())),
  };
};
