/** Health, readiness, metrics and version of the daemon. */
import * as z from 'zod/mini';
import type { ApiRoute } from '../../http/api-route.js';
import { sendJson } from '../../http/response.js';
import { CONTENT_TYPE } from '../../metrics/exposition.js';
import { requireUnrestricted } from '../visibility.js';
import type { ApiDependencies } from './api-dependencies.js';

/** Without a token: whether the process runs, and whether it accepts calls. */
export const createLivenessRoutes = (isReady: () => boolean = () => true): readonly ApiRoute[] => [
  {
    method: 'GET',
    path: '/health',
    access: 'open',
    summary: 'Liveness probe: 200 while the daemon runs',
    response: z.object({ status: z.literal('ok') }),
    handle: () => ({ status: 'ok' }),
  },
  {
    method: 'GET',
    path: '/ready',
    access: 'open',
    summary: 'Readiness probe: 200 when the daemon accepts calls, 503 otherwise',
    response: z.object({ status: z.enum(['ready', 'starting']) }),
    handle: ({ response }) => {
      if (isReady()) return { status: 'ready' };
      sendJson(response, 503, { status: 'starting' });
      return undefined;
    },
  },
];

export function createProbeRoutes(parts: ApiDependencies): readonly ApiRoute[] {
  const { configured, metrics, version, startedAt, isReady } = parts;
  return [
    ...createLivenessRoutes(isReady),
    {
      method: 'GET',
      path: '/metrics',
      access: 'read',
      summary: 'Export metrics in the Prometheus text format',
      mediaType: 'text/plain',
      handle: (context) => {
        requireUnrestricted(configured.runtime, context);
        const text = metrics.text();
        context.response.writeHead(200, {
          'content-type': CONTENT_TYPE,
          'content-length': Buffer.byteLength(text),
        });
        context.response.end(text);
      },
    },
    {
      method: 'GET',
      path: '/api/daemon',
      access: 'read',
      summary: "Show the daemon's version, start time and process",
      response: z.object({ version: z.string(), startedAt: z.string(), node: z.string(), pid: z.number() }),
      handle: () => ({
        version,
        startedAt: new Date(startedAt).toISOString(),
        node: process.version,
        pid: process.pid,
      }),
    },
  ];
}
