/** How the daemon itself is: for supervisors, for Prometheus, and for people. */
import * as z from 'zod/mini';
import { sendJson } from '../http/answer.js';
import { CONTENT_TYPE } from '../metrics/exposition.js';
import type { ApiParts } from './api-parts.js';
import type { ApiRoute } from './api-route.js';
import { requireWhole } from './sight.js';

export function createProbeRoutes(parts: ApiParts): readonly ApiRoute[] {
  const { configured, metrics, version, startedAt, isReady = () => true } = parts;
  return [
    {
      method: 'GET',
      path: '/health',
      access: 'open',
      summary: 'Whether the daemon answers',
      answer: z.object({ status: z.literal('ok') }),
      handle: () => ({ status: 'ok' }),
    },
    {
      method: 'GET',
      path: '/ready',
      access: 'open',
      summary: 'Whether the daemon takes calls: 200, or 503 when it does not',
      answer: z.object({ status: z.enum(['ready', 'starting']) }),
      handle: ({ response }) => {
        if (isReady()) return { status: 'ready' };
        sendJson(response, 503, { status: 'starting' });
        return undefined;
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      access: 'look',
      summary: 'Everything that is counted, as Prometheus reads it',
      mediaType: 'text/plain',
      handle: (visit) => {
        requireWhole(configured.runtime, visit);
        const text = metrics.text();
        visit.response.writeHead(200, {
          'content-type': CONTENT_TYPE,
          'content-length': Buffer.byteLength(text),
        });
        visit.response.end(text);
      },
    },
    {
      method: 'GET',
      path: '/api/daemon',
      access: 'look',
      summary: 'The release, and since when it runs',
      answer: z.object({ version: z.string(), startedAt: z.string(), node: z.string(), pid: z.number() }),
      handle: () => ({
        version,
        startedAt: new Date(startedAt).toISOString(),
        node: process.version,
        pid: process.pid,
      }),
    },
  ];
}
