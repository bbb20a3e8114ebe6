/** The built daemon in its own process: what would crash or block it does not affect the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type TemporaryDirectory, temporaryDirectory } from '@turnbuckle/testing';

type Answer = Readonly<Record<string, unknown>>;

export interface ChildDaemon {
  readonly directory: TemporaryDirectory;
  readonly child: ChildProcess;
  readonly pid: number;
  readonly url: string;
  /** The owner's token. */
  readonly token: string;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<unknown>;
  /** With the owner's token, and JSON if it has a body. */
  fetch(path: string, init?: { method?: string; headers?: object; body?: string }): Promise<Response>;
  /** A POST of JSON, and its answer; with the owner's token unless there is another. */
  post(
    path: string,
    body: unknown,
    token?: string,
  ): Promise<{ readonly status: number; readonly body: Answer }>;
  /** A call over the bridge: its response. */
  call(server: string, tool: string, args?: object): Promise<Answer>;
  /** Kills it and removes its directory. */
  remove(): Promise<void>;
}

export interface ChildDaemonOptions {
  readonly directory?: TemporaryDirectory;
  /** Limits of its runtime. */
  readonly limits?: object;
  /** The maximum heap size, in MB. */
  readonly heapMb?: number;
}

export async function childDaemon(config: object, options: ChildDaemonOptions = {}): Promise<ChildDaemon> {
  const { directory = await temporaryDirectory(), limits = {}, heapMb } = options;
  writeFileSync(directory.file('mcp.json'), JSON.stringify(config));
  const program = fileURLToPath(new URL('daemon-process.mjs', import.meta.url));
  const flags = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`];
  const child = spawn(process.execPath, [...flags, program, directory.path, JSON.stringify({ limits })], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { url, token: owner } = JSON.parse(String(line));
  const ask: ChildDaemon['fetch'] = (path, { headers, ...init } = {}) =>
    fetch(url + path, {
      ...init,
      headers: {
        authorization: `Bearer ${owner}`,
        ...(init.body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
    });
  const post: ChildDaemon['post'] = async (path, body, token = owner) => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as Answer };
  };
  return {
    ...{ directory, child, url, token: owner, ended, post },
    pid: child.pid ?? 0,
    fetch: ask,
    call: async (server, tool, args = {}) =>
      (await post('/mcp/call', { server, tool_name: tool, arguments: args })).body,
    remove: async () => {
      child.kill('SIGKILL');
      await ended;
      await directory.remove();
    },
  };
}
