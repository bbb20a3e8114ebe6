/** What a route is: data for the router, the doors and the OpenAPI document, and the code behind it. */
import type * as z from 'zod/mini';
import type { Access } from './access.js';
import type { Visit } from './visit.js';

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Segments beginning with a colon are open: `/servers/:name`. */
  readonly path: string;
  /**
   * What stands in its open segments are names that servers or people gave. They are only looked up, so they may hold
   * anything, also a slash (%2F).
   */
  readonly anyNames?: boolean | undefined;
  readonly access: Access;
  readonly summary: string;
  readonly body?: z.ZodMiniType | undefined;
  readonly answer?: z.ZodMiniType | undefined;
  /** Largest body in bytes, if not that of the server. */
  readonly maxBodyBytes?: number | undefined;
  /** What it returns is sent as JSON; nothing: it has answered itself. What it throws becomes the refusal. */
  readonly handle: (visit: Visit) => unknown;
}
