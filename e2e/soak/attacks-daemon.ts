/** A daemon in its own process, and a client that adds as little as possible to measured times. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '@turnbuckle/testing';

const SCRIPT = fileURLToPath(new URL('daemon.mjs', import.meta.url));

export interface SoakDaemon {
  readonly url: string;
  readonly token: string;
  /** Sends a request with the owner's token: a POST with a body, else a GET; over kept connections unless `isKept` is false. */
  ask(path: string, question?: SoakRequest): Promise<SoakResponse>;
  /** Stops the daemon with SIGTERM, and removes its files; returns its exit code. Safe to call twice. */
  stop(): Promise<number | null>;
}

export interface SoakRequest {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isKept?: boolean;
}

export interface SoakResponse {
  readonly status: number;
  readonly session: string | undefined;
  /** The body parsed as JSON; empty if it is not JSON. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** Starts the built daemon with these servers and further settings; resolves when it is ready. */
export async function startSoakDaemon(servers: object, settings: object = {}): Promise<SoakDaemon> {
  const home = await temporaryDirectory();
  const stateDir = home.file('state');
  mkdirSync(stateDir, { recursive: true });
  const file = home.file('mcp.json');
  writeFileSync(file, JSON.stringify({ ...settings, servers }));
  const child = spawn(process.execPath, [SCRIPT, stateDir, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  const { url, token } = JSON.parse(String(line)) as { url: string; token: string };
  const kept = new Agent({ keepAlive: true });
  const end = async (): Promise<number | null> => {
    kept.destroy();
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const [code] = await exited;
    await home.remove();
    return code as number | null;
  };
  let ended: Promise<number | null> | undefined;
  return {
    url,
    token,
    ask: (path, { isKept = true, ...question } = {}) =>
      sendRequest(url + path, { ...question, token, agent: isKept ? kept : new Agent() }),
    stop: () => {
      ended ??= end();
      return ended;
    },
  };
}

type Sent = Omit<SoakRequest, 'isKept'> & { readonly token?: string | undefined; readonly agent: Agent };

/** A POST with a body, else a GET. */
export function sendRequest(url: string, { body, headers, token, agent }: Sent): Promise<SoakResponse> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        agent,
        method: text === undefined ? 'GET' : 'POST',
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(text !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(text),
          }),
          ...headers,
        },
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const session = response.headers['mcp-session-id'];
          resolve({
            status: response.statusCode ?? 0,
            session: typeof session === 'string' ? session : undefined,
            json: asRecord(Buffer.concat(parts).toString('utf8')),
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });
}

function asRecord(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
