/** A small daemon: its own config files, a log, tokens, and the API on a free port. */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CallLog } from '@turnbuckle/store';
import { fixture, temporaryDirectory } from '@turnbuckle/testing';
import { type ConfiguredRuntime, createConfiguredRuntime, type Runtime } from 'turnbuckle';
import { expect, onTestFinished } from 'vitest';
import * as z from 'zod/mini';
import type { EventLimits } from '../../src/api/events/event-routes.js';
import { createApiRoutes } from '../../src/api/routes/api-routes.js';
import { Authenticator } from '../../src/http/authenticate.js';
import type { Route } from '../../src/http/route.js';
import { HttpServer } from '../../src/http/server/http-server.js';
import type { TokenAccess } from '../../src/identity/access.js';
import { recordCalls } from '../../src/log/call-log.js';
import { createMetrics } from '../../src/metrics/metrics.js';
import { readOwnerToken } from '../../src/tokens/owner-token.js';
import { TokenStore } from '../../src/tokens/token-store.js';

export interface StageOptions {
  /** The text of the user's config file; by default, one server `demo`. */
  readonly file?: string;
  readonly events?: EventLimits;
  readonly isReady?: () => boolean;
  readonly withoutLog?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly text: string;
}

export interface AskOptions {
  readonly body?: unknown;
  /** The owner's token by default; an empty string sends none. */
  readonly token?: string;
}

export interface Stage {
  readonly url: string;
  readonly http: HttpServer;
  readonly routes: readonly Route[];
  readonly configured: ConfiguredRuntime;
  readonly runtime: Runtime;
  readonly log: CallLog;
  readonly tokens: TokenStore;
  readonly owner: string;
  readonly defects: unknown[];
  readonly changes: { count: number };
  /** The path of the user's config file; `written` reads its current text. */
  readonly file: string;
  written(): string;
  /** A token with this access, with all capabilities by default. */
  token(access: readonly TokenAccess[], can?: readonly string[]): Promise<string>;
  /** Sends a request, and checks that the response matches the schema of its route. */
  ask(method: Route['method'], path: string, options?: AskOptions): Promise<Answer>;
}

export const demoFile = (): string => `{
  // Mine.
  "servers": {
    "demo": ${JSON.stringify({ ...fixture('echo'), description: 'A demo' })} // keep me
  }
}
`;

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const home = await temporaryDirectory();
  const file = home.file('.config/turnbuckle/mcp.json');
  await mkdir(dirname(file), { recursive: true });
  await mkdir(home.file('work'));
  await writeFile(file, options.file ?? demoFile());
  const stateDir = home.file('state');
  const configured = await createConfiguredRuntime({
    cwd: home.file('work'),
    environment: { HOME: home.path, PATH: process.env.PATH },
    stateDir,
    approvals: 'queue',
  });
  const { runtime } = configured;
  const log = new CallLog({ directory: home.file('log') });
  const stopLog = recordCalls(runtime, log);
  const metrics = createMetrics(runtime, { log });
  const tokens = await TokenStore.open({ stateDir });
  const changes = { count: 0 };
  const routes = createApiRoutes(
    {
      configured,
      log: options.withoutLog === true ? undefined : log,
      metrics,
      tokens,
      version: '1.2.3',
      startedAt: Date.now(),
      onConfigChanged: () => {
        changes.count += 1;
      },
      isReady: options.isReady,
    },
    options.events,
  );
  const defects: unknown[] = [];
  const http = new HttpServer({
    routes,
    authenticator: new Authenticator({ credentials: tokens }),
    onDefect: (thrown) => defects.push(thrown),
  });
  const { url } = await http.listen(0, '127.0.0.1');
  onTestFinished(async () => {
    await http.close(0);
    stopLog();
    metrics.close();
    await runtime.close();
    await log.close();
    tokens.close();
    await home.remove();
  });
  const owner = readOwnerToken(stateDir) ?? '';
  let made = 0;
  return {
    ...{ url, http, routes, configured, runtime, log, tokens, owner, defects, changes, file },
    written: () => readFileSync(file, 'utf8'),
    token: async (access, can = ['mcp_integration']) => {
      made += 1;
      return (await tokens.create({ name: `made-${made}`, access, can })).token;
    },
    ask: async (method, path, { body, token = owner } = {}) => {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(token !== '' && { authorization: `Bearer ${token}` }),
          ...(method !== 'GET' && method !== 'DELETE' && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type') === 'application/json';
      const answer = { status: response.status, body: isJson ? JSON.parse(text) : {}, text };
      if (response.ok && isJson) checkAnswer(http, { method, path }, answer);
      return answer;
    },
  };
}

/** The body matches the response schema of the route, and has no other keys. */
function checkAnswer(
  http: HttpServer,
  { method, path }: Pick<Route, 'method' | 'path'>,
  { body }: Answer,
): void {
  const schema = http.router.find(method, path.split('?')[0] ?? '')?.route.response;
  expect(schema, `${method} ${path} has an answer`).toBeDefined();
  if (schema !== undefined) expect(z.parse(schema, body)).toEqual(body);
}
