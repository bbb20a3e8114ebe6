/** What a route is: data for the router, the doors and the OpenAPI document, and the code behind it. */
import type * as z from 'zod/mini';
import type { Visit } from './visit.js';

/** What a token must be good for: nothing, making calls, looking, or changing things. */
export type Access = 'open' | 'call' | 'look' | 'manage';

/** What a token can be given. */
export type TokenAccess = Exclude<Access, 'open'>;

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Segments beginning with a colon are open: `/servers/:name`. */
  readonly path: string;
  readonly access: Access;
  readonly summary: string;
  readonly body?: z.ZodMiniType | undefined;
  readonly answer?: z.ZodMiniType | undefined;
  /** Largest body in bytes, if not that of the server. */
  readonly maxBodyBytes?: number | undefined;
  /** What it returns is sent as JSON; nothing: it has answered itself. What it throws becomes the refusal. */
  readonly handle: (visit: Visit) => unknown;
}
