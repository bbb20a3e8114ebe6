import type { Behaviour, Changed } from './behaviour.js';
import type { Channel } from './channel.js';
import type { JsonObject } from './json.js';
import type { CacheHint, Host } from './link.js';
import type { Dialect } from './revisions.js';
import { Session } from './session.js';

interface FixtureServerOptions {
  readonly dialect: Dialect;
  readonly cache: CacheHint;
}

/** One MCP server with any number of sessions; transports open a session for each link. */
export class FixtureServer implements Host {
  readonly behaviour: Behaviour;
  readonly dialect: Dialect;
  readonly cache: CacheHint;
  readonly #sessions = new Set<Session>();

  constructor(behaviour: Behaviour, options: FixtureServerOptions) {
    this.behaviour = behaviour;
    this.dialect = options.dialect;
    this.cache = options.cache;
  }

  get info(): JsonObject {
    const { name, info } = this.behaviour;
    if (info !== undefined) return info;
    return { name: `fixture-${name}`, version: '1.0.0', title: `Fixture ${name}` };
  }

  get capabilities(): JsonObject {
    const { tools, resources, prompts } = this.behaviour;
    return {
      ...(tools && { tools: { listChanged: true } }),
      ...(resources && { resources: { subscribe: true, listChanged: true } }),
      ...(prompts && { prompts: { listChanged: true } }),
    };
  }

  /** Starts a session whose unsolicited messages go to `push`; the transport closes it with `close`. */
  open(push: Channel): Session {
    const session = new Session(this, push);
    this.#sessions.add(session);
    return session;
  }

  /** Cancels a session's requests in flight and sends it no more notifications. */
  close(session: Session): void {
    session.end();
    this.#sessions.delete(session);
  }

  changed(kind: Changed): void {
    for (const session of this.#sessions) session.announceChange(kind);
  }

  updated(uri: string): void {
    for (const session of this.#sessions) session.announceUpdate(uri);
  }
}
