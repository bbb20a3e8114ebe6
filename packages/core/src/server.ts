/** One configured server at run time: its connection and what guards it. */
import type { ServerConfig } from './config/schema.js';
import type { Connection } from './connection/connection.js';
import type { RequestGuard } from './connection/request-guard.js';
import { ServerStats } from './observe/server-stats.js';
import { Breaker, type BreakerOptions } from './resilience/breaker.js';
import { Limiter } from './resilience/limiter.js';
import { RetryBudget } from './resilience/retry-budget.js';

export class Server {
  readonly connection: Connection;
  /** What it asks the host goes through this, over all its connections. */
  readonly requests: RequestGuard;
  readonly breaker: Breaker;
  readonly limiter: Limiter;
  readonly retries = new RetryBudget();
  readonly stats = new ServerStats();
  enabled: boolean;

  constructor(
    connection: Connection,
    options: {
      readonly maxQueued: number;
      readonly breaker: BreakerOptions;
      readonly requests: RequestGuard;
    },
  ) {
    this.connection = connection;
    this.requests = options.requests;
    this.enabled = connection.config.enabled;
    this.breaker = new Breaker(options.breaker);
    this.limiter = new Limiter({ maxInFlight: connection.config.maxInFlight, maxQueued: options.maxQueued });
  }

  get name(): string {
    return this.connection.name;
  }

  get config(): ServerConfig {
    return this.connection.config;
  }
}
