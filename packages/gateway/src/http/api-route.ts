import type * as z from 'zod/mini';
import type { Route } from './route.js';

/** A route with the fields that only its OpenAPI description needs. */
export interface ApiRoute extends Route {
  /** The query parameters. */
  readonly query?: z.ZodMiniObject | undefined;
  /** The media type of the response, if not JSON. */
  readonly mediaType?: string | undefined;
}
