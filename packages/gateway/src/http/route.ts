/** A route: data for the router, authentication and the OpenAPI document, and its handler. */
import type * as z from 'zod/mini';
import type { Access } from '../identity/access.js';
import type { RequestContext } from './request-context.js';

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Segments that start with a colon are parameters: `/servers/:name`. */
  readonly path: string;
  /**
   * Its parameters are names given by servers or users. They are only looked up, so they may contain anything, including
   * a slash (%2F).
   */
  readonly anyNames?: boolean | undefined;
  readonly access: Access;
  readonly summary: string;
  readonly body?: z.ZodMiniType | undefined;
  readonly response?: z.ZodMiniType | undefined;
  /** The largest body in bytes, if not the server's default. */
  readonly maxBodyBytes?: number | undefined;
  /** Its return value is sent as JSON; undefined: it has responded itself. What it throws becomes the error response. */
  readonly handle: (context: RequestContext) => unknown;
}
