/** A daemon for one test: a free port, a temporary state directory, and requests with the owner's token. */
import { writeFileSync } from 'node:fs';
import { temporaryDirectory } from '@turnbuckle/testing';
import { type Daemon, type DaemonOptions, startDaemon } from '../../src/daemon/daemon.js';

export interface OwnDaemon {
  readonly daemon: Daemon;
  readonly stateDir: string;
  /** Rewrites the user's config file; a text as it is. */
  configure(config: object | string): void;
  fetch(path: string, init?: RequestInit & { readonly token?: string | undefined }): Promise<Response>;
  /** A POST of JSON, and its answer. */
  post(
    path: string,
    body: unknown,
    token?: string,
  ): Promise<{ readonly status: number; readonly body: Answer }>;
  close(): Promise<void>;
}

export type Answer = Record<string, unknown>;

export async function ownDaemon(config: object, options: Partial<DaemonOptions> = {}): Promise<OwnDaemon> {
  const directory = await temporaryDirectory();
  const file = directory.file('mcp.json');
  const configure = (value: object | string): void =>
    writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
  configure(config);
  const daemon = await startDaemon({
    version: '0.0.0',
    stateDir: directory.file('state'),
    cwd: directory.path,
    environment: { ...process.env, HOME: directory.path, XDG_CONFIG_HOME: directory.file('config') },
    files: [file],
    port: 0,
    ...options,
  });
  const request: OwnDaemon['fetch'] = (path, { token = daemon.token, headers, ...init } = {}) =>
    fetch(daemon.url + path, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...(headers as Record<string, string>) },
    });
  return {
    daemon,
    stateDir: directory.file('state'),
    configure,
    fetch: request,
    post: async (path, body, token) => {
      const headers = { 'content-type': 'application/json' };
      const response = await request(path, { method: 'POST', headers, body: JSON.stringify(body), token });
      return { status: response.status, body: (await response.json()) as Answer };
    },
    close: async () => {
      await daemon.close(1_000);
      await directory.remove();
    },
  };
}
