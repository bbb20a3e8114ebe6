/** Signing in to a server by its name, with its configuration filled in. */
import type { RemoteServer } from '../auth/server-auth.js';
import type { SignInOwner, SignInRequest, SignInStatus, SignIns } from '../auth/sign-ins.js';
import { hasOwnCredentials, hasOwnSignIn } from '../config/credentials.js';
import { TurnbuckleError } from '../errors.js';
import type { Redactor } from '../redaction/redactor.js';
import type { Server } from '../servers/server.js';
import type { ServerBuilder } from '../servers/server-builder.js';
import type { ServerSet } from '../servers/server-set.js';
import { redactErrors } from './redact-errors.js';

export interface SignInOperationsParts {
  readonly signIns: SignIns;
  readonly servers: ServerSet;
  readonly builder: ServerBuilder;
  readonly redactor: Redactor;
}

/** Whose sign-in; absent: that of the server itself. */
export type SignInSelection = Pick<SignInRequest, 'agent'>;

export class SignInOperations {
  readonly #parts: SignInOperationsParts;

  constructor(parts: SignInOperationsParts) {
    this.#parts = parts;
  }

  async signIn(server: string, request: SignInRequest): Promise<boolean> {
    const { signIns, redactor } = this.#parts;
    const { agent } = request;
    const found = this.#require(server, agent);
    if (agent === undefined) {
      const reconnect = (owners: readonly SignInOwner[]): Promise<void> => this.#reconnect(owners);
      const target = { name: server, connection: found.connection, reconnect };
      return redactErrors(redactor, signIns.signIn(target, request));
    }
    // Its own connections belong to its calls; this one finds out what the server requires.
    const connection = found.createProbe(agent);
    const reconnect = async (owners: readonly SignInOwner[]): Promise<void> => {
      await Promise.all([connection.disconnect(), this.#reconnect(owners)]);
    };
    const target = { name: server, agent, connection, reconnect };
    return redactErrors(redactor, signIns.signIn(target, request)).finally(() => connection.close());
  }

  async signOut(
    server: string,
    { agent }: SignInSelection = {},
  ): Promise<{ readonly found: boolean; readonly revoked: boolean }> {
    const { signIns, redactor } = this.#parts;
    this.#require(server, agent);
    const remote = await this.#remoteConfig(server, agent);
    if (remote === undefined) return { found: false, revoked: false };
    const disconnect = (owners: readonly SignInOwner[]): Promise<void> => this.#disconnect(owners);
    return redactErrors(redactor, signIns.signOut({ name: server, agent }, remote, disconnect));
  }

  async status(server: string, { agent }: SignInSelection = {}): Promise<SignInStatus> {
    this.#require(server, agent);
    const remote = await this.#remoteConfig(server, agent);
    return remote === undefined
      ? { server, type: 'none', signedIn: false }
      : this.#parts.signIns.status({ name: server, agent }, remote);
  }

  async #disconnect(owners: readonly SignInOwner[]): Promise<void> {
    const { servers } = this.#parts;
    await Promise.all(owners.map(({ name, agent }) => servers.get(name)?.disconnectSignIn(agent)));
  }

  /** Connections of agents are opened again by their next call. */
  async #reconnect(owners: readonly SignInOwner[]): Promise<void> {
    const open = owners
      .filter(({ agent }) => agent === undefined)
      .flatMap(({ name }) => this.#parts.servers.get(name) ?? [])
      .filter(({ connection }) => connection.link !== undefined);
    await this.#disconnect(owners);
    for (const { connection } of open) connection.open().catch(() => {});
  }

  /** Throws ARGUMENTS_INVALID for an agent without a sign-in of its own. */
  #require(name: string, agent: string | undefined): Server {
    const server = this.#parts.servers.require(name);
    if (agent !== undefined && !hasOwnCredentials(server.config, agent)) throw noCredentials(name, agent);
    if (agent !== undefined && !hasOwnSignIn(server.config, agent)) throw noOwnSignIn(name, agent);
    return server;
  }

  /** The configuration of a server that accepts a sign-in, filled in. */
  async #remoteConfig(server: string, agent: string | undefined): Promise<RemoteServer | undefined> {
    const { name, config } = this.#parts.servers.require(server);
    const filled = await this.#parts.builder.resolve({ name, agent }, config);
    return filled.type === 'http' || filled.type === 'sse' || filled.type === 'websocket'
      ? filled
      : undefined;
  }
}

function noCredentials(server: string, agent: string): TurnbuckleError {
  return new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `Agent "${agent}" has no credentials of its own on server "${server}".`,
    {
      server,
      hint: `Add them to the server's configuration: "credentials": { ${JSON.stringify(agent)}: { … } }. To use the account configured for the server, omit the agent.`,
    },
  );
}

const noOwnSignIn = (server: string, agent: string): TurnbuckleError =>
  new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `Agent "${agent}" has no account of its own on server "${server}". It uses the account configured for the server.`,
    {
      server,
      hint: `To use the account configured for the server, omit the agent. To give the agent its own account, add "auth" to its credentials: "credentials": { ${JSON.stringify(agent)}: { "auth": { "type": "oauth" } } }`,
    },
  );
