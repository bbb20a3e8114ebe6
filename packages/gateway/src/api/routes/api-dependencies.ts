import type { CallLog } from '@turnbuckle/store';
import type { ConfiguredRuntime } from 'turnbuckle';
import type { Reload } from 'turnbuckle/host';
import type { ApiRoute } from '../../http/api-route.js';
import type { Route } from '../../http/route.js';
import type { Metrics } from '../../metrics/metrics.js';
import type { PartEventFeed } from '../../parts/part-events.js';
import type { TokenStore } from '../../tokens/token-store.js';

/** The queries of the call log. */
export type CallQueries = Pick<
  CallLog,
  | 'find'
  | 'get'
  | 'incidents'
  | 'names'
  | 'toolAnalytics'
  | 'serverAnalytics'
  | 'callsOverTime'
  | 'energyTotals'
  | 'unusedServers'
>;

/** What the management API needs. It owns none of it. */
export interface ApiDependencies {
  readonly configured: ConfiguredRuntime;
  /** Undefined: logging is disabled, and the call routes respond with an error. */
  readonly log: CallQueries | undefined;
  readonly metrics: Pick<Metrics, 'text'>;
  readonly tokens: Pick<TokenStore, 'find' | 'list' | 'create' | 'revoke'>;
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** The configuration was edited or reloaded, and is in effect. `reload`: servers changed. */
  readonly onConfigChanged?: ((reload?: Reload) => void) | undefined;
  /** Whether `/ready` reports ready; absent: always. */
  readonly isReady?: (() => boolean) | undefined;
  /** The routes and events of parts. */
  readonly partRoutes?: readonly ApiRoute[] | undefined;
  readonly partEvents?: PartEventFeed | undefined;
  /** Other routes of the same server, to be listed in the OpenAPI document. */
  readonly otherRoutes?: readonly Route[] | undefined;
}
