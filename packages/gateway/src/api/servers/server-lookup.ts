import type { ConfiguredRuntime } from 'turnbuckle';
import type { Visit } from '../http/visit.js';
import { readerOf, toServer } from './server-shape.js';
import { sightOf } from './sight.js';

/** How the routes of one server find it and tell of it. */
export class ServerView {
  readonly configured: ConfiguredRuntime;

  constructor(configured: ConfiguredRuntime) {
    this.configured = configured;
  }

  /** The server that the address names; SERVER_UNKNOWN when the visitor may not know of it. */
  nameOf(visit: Visit): string {
    const { name = '' } = visit.parameters;
    sightOf(this.configured.runtime, visit).requireServer(name);
    return name;
  }

  show(name: string, visit: Visit): Promise<unknown> {
    return toServer(this.configured.runtime.serverStatus(name), this.configured, readerOf(visit));
  }
}
