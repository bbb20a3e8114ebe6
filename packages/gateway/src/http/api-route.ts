import type * as z from 'zod/mini';
import type { Route } from '../http/route.js';

/** A route, and what only its description needs. */
export interface ApiRoute extends Route {
  /** What may stand behind the question mark. */
  readonly query?: z.ZodMiniObject | undefined;
  /** What it answers with, if not JSON. */
  readonly mediaType?: string | undefined;
}
