import type { ConfiguredRuntime } from 'turnbuckle';
import type { RequestContext } from '../../http/request-context.js';
import { readerAccessOf, toServer } from '../shapes/server-shape.js';
import { visibilityOf } from '../visibility.js';

/** Finds and describes the server of a route. */
export class ServerLookup {
  readonly configured: ConfiguredRuntime;

  constructor(configured: ConfiguredRuntime) {
    this.configured = configured;
  }

  /** The server in the path; SERVER_UNKNOWN if the caller may not know of it. */
  nameOf(context: RequestContext): string {
    const { name = '' } = context.parameters;
    visibilityOf(this.configured.runtime, context).requireServer(name);
    return name;
  }

  describe(name: string, context: RequestContext): Promise<unknown> {
    return toServer(this.configured.runtime.serverStatus(name), this.configured, readerAccessOf(context));
  }
}
