/** The real daemon in its own process, and another client that must be served throughout. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { fixture, temporaryDirectory } from '@turnbuckle/testing';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface FuzzDaemon {
  readonly url: string;
  readonly token: string;
  readonly directory: string;
  /** What it said on stderr: warnings of defects, stack traces. */
  said(): string;
  /** Undefined while it runs; else how it ended. */
  exit(): unknown;
  post(path: string, body: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** A call over the bridge: its answer, whatever it is. */
  call(
    server: string,
    tool: string,
    args: object,
  ): Promise<{ readonly success?: boolean; readonly code?: string }>;
  /** Stops it as a user does, and returns its exit code. */
  stop(): Promise<unknown>;
}

const PROGRAM = fileURLToPath(new URL('../threats/daemon-process.mjs', import.meta.url));
/** The breaker opens only briefly: a server that gets no calls sends nothing. */
const OPTIONS = { breaker: { openMs: 50, maxOpenMs: 50 }, warns: true };
/** Longer than any call here may take: a request that is still open then is stuck. */
const PATIENCE_MS = 30_000;

export async function startFuzzDaemon(servers: Readonly<Record<string, object>>): Promise<FuzzDaemon> {
  const directory = await temporaryDirectory();
  const all = { good: fixture('echo'), ...servers };
  writeFileSync(directory.file('mcp.json'), JSON.stringify({ servers: all }));
  const child = spawn(process.execPath, [PROGRAM, directory.path, JSON.stringify(OPTIONS)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  let exit: unknown;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-100_000);
  });
  const ended = once(child, 'exit').then(([code, signal]) => {
    exit = code ?? signal;
    return exit;
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { url, token } = JSON.parse(String(line));
  const post: FuzzDaemon['post'] = async (path, body, headers = {}) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return { status: response.status, text: await response.text() };
  };
  return {
    ...{ url, token, post, directory: directory.path },
    said: () => said,
    exit: () => exit,
    call: async (server, tool, args) => {
      const body = { server, tool_name: tool, arguments: args, timeout_ms: 2_000 };
      return JSON.parse((await post('/mcp/call', JSON.stringify(body))).text);
    },
    stop: async () => {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
      const code = await ended;
      clearTimeout(late);
      await directory.remove();
      return code;
    },
  };
}

export interface Neighbour {
  readonly calls: number;
  readonly slowestMs: number;
  readonly faults: readonly string[];
}

/** Calls the good server until the work is done; returns the failed calls and the slowest time. */
export async function serveNeighbour(daemon: FuzzDaemon, work: Promise<unknown>): Promise<Neighbour> {
  let over = false;
  const done = work.finally(() => {
    over = true;
  });
  done.catch(() => {});
  const faults: string[] = [];
  let calls = 0;
  let slowestMs = 0;
  while (!over && daemon.exit() === undefined) {
    const started = performance.now();
    const answer = await daemon
      .call('good', 'echo', { text: `hello ${calls}` })
      .catch((error: unknown) => ({ success: false, code: String(error) }));
    slowestMs = Math.max(slowestMs, performance.now() - started);
    if (answer.success !== true) faults.push(JSON.stringify(answer).slice(0, 500));
    calls += 1;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await done;
  return { calls, slowestMs, faults };
}
