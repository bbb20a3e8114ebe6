/** Signing in to a server by its name, with its configuration filled in. */
import type { RemoteServer } from '../auth/server-auth.js';
import type { SignInRequest, SignInStatus, SignIns } from '../auth/sign-ins.js';
import type { Redactor } from '../redaction/redactor.js';
import type { ServerBuilder } from '../servers/server-builder.js';
import type { ServerSet } from '../servers/server-set.js';
import { redactErrors } from './redact-errors.js';

export interface SignInOperationsParts {
  readonly signIns: SignIns;
  readonly servers: ServerSet;
  readonly builder: ServerBuilder;
  readonly redactor: Redactor;
}

export class SignInOperations {
  readonly #parts: SignInOperationsParts;

  constructor(parts: SignInOperationsParts) {
    this.#parts = parts;
  }

  async signIn(server: string, request: SignInRequest): Promise<boolean> {
    const { signIns, servers, redactor } = this.#parts;
    return redactErrors(redactor, signIns.signIn(servers.require(server), request));
  }

  async signOut(server: string): Promise<{ readonly found: boolean; readonly revoked: boolean }> {
    const { signIns, servers, redactor } = this.#parts;
    const remote = await this.#remoteConfig(server);
    if (remote === undefined) return { found: false, revoked: false };
    return redactErrors(redactor, signIns.signOut(servers.require(server), remote));
  }

  async status(server: string): Promise<SignInStatus> {
    const remote = await this.#remoteConfig(server);
    return remote === undefined
      ? { server, type: 'none', signedIn: false }
      : this.#parts.signIns.status(server, remote);
  }

  /** The configuration of a server that accepts a sign-in, filled in. */
  async #remoteConfig(server: string): Promise<RemoteServer | undefined> {
    const { name, config } = this.#parts.servers.require(server);
    const filled = await this.#parts.builder.resolve(name, config);
    return filled.type === 'http' || filled.type === 'sse' || filled.type === 'websocket'
      ? filled
      : undefined;
  }
}
