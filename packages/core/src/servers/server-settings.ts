/** Settings for the connections of all servers. */
import type { ServerConfig } from '../config/schema/schema.js';
import type { ServerRequestAnswers } from '../connection/server-requests/host-requests.js';
import type { BreakerOptions } from '../resilience/breaker.js';
import type { ClientTelemetry } from '../telemetry/client-telemetry.js';

export interface ServerSettings {
  /**
   * Fills in the placeholders of a server's configuration each time it connects. Values passed to `learn` are
   * redacted in errors, events and `status()`.
   */
  readonly resolve?:
    | ((server: string, config: ServerConfig, learn: (secret: string) => void) => Promise<ServerConfig>)
    | undefined;
  /** Handlers for requests of servers. Missing ones are not offered. */
  readonly handlers?: ServerRequestAnswers | undefined;
  /** True: servers are offered everything that their configuration allows, because calls bring their own handlers. */
  readonly callersAnswer?: boolean | undefined;
  readonly breaker?: Partial<BreakerOptions> | undefined;
  /** False: frequent requests use the SDK's client. */
  readonly expressLane?: boolean | undefined;
  /** The id of a gateway, generated at start. Servers that route back to it are rejected. */
  readonly instance?: string | undefined;
  /** Where state is stored between runs. */
  readonly stateDir?: string | undefined;
  readonly clientInfo?: { readonly name: string; readonly version: string } | undefined;
  /** Observes requests to servers. */
  readonly telemetry?: ClientTelemetry | undefined;

  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  readonly random?: (() => number) | undefined;
}
