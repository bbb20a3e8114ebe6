/** Requests for tests. */
import { randomUUID } from 'node:crypto';
import type { StewardRequest } from '../src/requests/request.js';

/** `changes` tells the steps of `workers/test-steps.mjs` what to do. */
export const makeRequest = (
  changes: Readonly<Record<string, unknown>> = {},
  rest: Partial<StewardRequest> = {},
): StewardRequest => ({
  id: randomUUID(),
  type: 'modify_server',
  params: { serverName: 'demo', changes },
  timestamp: '2026-11-18T10:00:00.000Z',
  priority: 'medium',
  ...rest,
});
