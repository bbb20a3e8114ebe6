import type { InvocationLog } from '@turnbuckle/store';
import type { ConfiguredRuntime } from 'turnbuckle';
import type { Route } from '../http/route.js';
import type { Metrics } from '../metrics/metrics.js';
import type { TokenStore } from '../tokens/token-store.js';

/** What can be asked of the log of calls. */
export type CallQueries = Pick<
  InvocationLog,
  'find' | 'get' | 'names' | 'toolAnalytics' | 'serverAnalytics' | 'callsOverTime' | 'unusedServers'
>;

/** What the management API is made of. It owns none of it. */
export interface ApiParts {
  readonly configured: ConfiguredRuntime;
  /** Undefined: nothing is logged, and the routes of calls say so. */
  readonly log: CallQueries | undefined;
  readonly metrics: Pick<Metrics, 'text'>;
  readonly tokens: Pick<TokenStore, 'find' | 'list' | 'create' | 'revoke'>;
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** The configuration was edited or read again, and is in effect. */
  readonly onConfigChanged?: (() => void) | undefined;
  /** What `/ready` says; absent: ready from the first request on. */
  readonly isReady?: (() => boolean) | undefined;
  /** Routes of the same server that are not made here: they are in the OpenAPI document too. */
  readonly others?: readonly Route[] | undefined;
}
