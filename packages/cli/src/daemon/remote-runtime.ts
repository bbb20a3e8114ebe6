/** The runtime of a daemon, through its API. What it knows about servers is as of the last request. */
import type { CallOptions, CatalogTool, Progress, Runtime, ServerStatus } from 'turnbuckle';
import { TurnbuckleError } from 'turnbuckle';
import type { Servers } from '../session/servers.js';
import { unknownServer } from '../session/unknown-server.js';
import { type DaemonClient, type DaemonErrorBody, errorFromBody } from './daemon-client.js';
import { NoResponseError } from './http/send-request.js';
import { RemoteCatalog, type SchemaTool } from './remote-catalog.js';
import { type ServerStatusResponse, toServerStatus } from './server-status-response.js';

type Listed<Method extends 'listResources' | 'listResourceTemplates' | 'listPrompts'> = Awaited<
  ReturnType<Runtime[Method]>
>;
type Options = Pick<CallOptions, 'signal'>;
type RemoteCallOptions = Pick<CallOptions, 'signal' | 'onProgress' | 'timeoutMs' | 'approvalWaitMs'>;

interface CallResponse extends DaemonErrorBody {
  readonly result?: Awaited<ReturnType<Runtime['callTool']>>;
}

const LIST_TIMEOUT_MS = 60_000;
/** The default of a runtime too. */

export class RemoteRuntime implements Servers, Pick<Runtime, 'callTool'> {
  readonly isRemote = true;
  readonly catalog = new RemoteCatalog();
  readonly #client: DaemonClient;
  readonly #signal: AbortSignal;
  readonly #statuses = new Map<string, ServerStatus>();

  constructor(client: DaemonClient, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** Reads all servers, and the tools of those that are connected. */
  async load(): Promise<this> {
    const { servers } = await this.#client.get<{ servers: readonly { readonly name: string }[] }>(
      '/api/servers',
    );
    const statuses = await Promise.all(
      servers.map(({ name }) => this.#client.get<ServerStatusResponse>(pathOf(name))),
    );
    for (const status of statuses) this.#statuses.set(status.name, toServerStatus(status));
    // Afterwards, so that the tools of every connected server are among them.
    await this.#readTools();
    return this;
  }

  serverNames(): string[] {
    return [...this.#statuses.keys()];
  }

  status(): ServerStatus[] {
    return [...this.#statuses.values()];
  }

  serverStatus(server: string): ServerStatus {
    const status = this.#statuses.get(server);
    if (status === undefined) throw unknownServer(server, this.serverNames());
    return status;
  }

  /** Nothing happens to one that is up. */
  async connect(server: string): Promise<void> {
    if (this.serverStatus(server).status === 'connected') return;
    try {
      await this.#client.post(`${pathOf(server)}/connect`, {}, { signal: this.#signal });
      await this.#readTools(server);
    } finally {
      await this.#refreshStatus(server);
    }
  }

  async ping(server: string): Promise<boolean> {
    const { alive } = await this.#client.post<{ alive: boolean }>(
      `${pathOf(server)}/ping`,
      {},
      this.#options(),
    );
    await this.#refreshStatus(server);
    return alive;
  }

  tools(): readonly CatalogTool[] {
    return this.catalog.list();
  }

  async listResources(server?: string): Promise<Listed<'listResources'>> {
    return (await this.#fetchResources(server)).resources;
  }

  async listResourceTemplates(server?: string): Promise<Listed<'listResourceTemplates'>> {
    return (await this.#fetchResources(server)).templates;
  }

  async listPrompts(server?: string): Promise<Listed<'listPrompts'>> {
    const { prompts } = await this.#client.get<{ prompts: Listed<'listPrompts'> }>(
      `/api/prompts${queryOf(server)}`,
      this.#options(),
    );
    return prompts;
  }

  readResource(server: string, uri: string, options?: Options): ReturnType<Runtime['readResource']> {
    return this.#request('/resources/read', { server, uri }, options);
  }

  // biome-ignore lint/complexity/useMaxParams: the same method as that of the runtime.
  getPrompt(
    server: string,
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: Options,
  ): ReturnType<Runtime['getPrompt']> {
    return this.#request('/prompts/get', { server, name, arguments: args }, options);
  }

  // biome-ignore lint/complexity/useMaxParams: the same method as that of the runtime.
  async callTool(
    server: string,
    tool: string,
    args: Readonly<Record<string, unknown>> = {},
    { signal = this.#signal, onProgress, timeoutMs, approvalWaitMs }: RemoteCallOptions = {},
  ): ReturnType<Runtime['callTool']> {
    const body = {
      server,
      tool_name: tool,
      arguments: args,
      // As without a daemon: the limits of the server, or how long the command may wait.
      timeout_ms: null,
      ...(timeoutMs !== undefined && { silence_ms: timeoutMs }),
      ...(approvalWaitMs !== undefined && { approval_wait_ms: approvalWaitMs }),
    };
    try {
      const response = await this.#postCall(body, { signal, onProgress });
      if (response?.result === undefined) throw errorFromBody(response ?? {});
      return response.result;
    } catch (error) {
      if (!(error instanceof NoResponseError && error.mayHaveActed)) throw error;
      throw outcomeUnknown(error);
    }
  }

  #postCall(
    body: object,
    { signal, onProgress }: Pick<RemoteCallOptions, 'signal' | 'onProgress'>,
  ): Promise<CallResponse | undefined> {
    if (onProgress === undefined) return this.#client.post<CallResponse>('/mcp/call', body, { signal });
    return this.#client.stream<CallResponse>('/mcp/call', body, {
      signal,
      onEvent: (name, data) => {
        if (name === 'progress') onProgress(data as Progress);
      },
    });
  }

  async #request<T>(path: string, body: object, { signal = this.#signal }: Options = {}): Promise<T> {
    const answer = await this.#client.post<DaemonErrorBody & { readonly result?: T }>(path, body, { signal });
    if (answer.result === undefined) throw errorFromBody(answer);
    return answer.result;
  }

  #fetchResources(server: string | undefined): Promise<{
    readonly resources: Listed<'listResources'>;
    readonly templates: Listed<'listResourceTemplates'>;
  }> {
    return this.#client.get(`/api/resources${queryOf(server)}`, this.#options());
  }

  /** Servers may take their time to say what they have. */
  #options(): { readonly signal: AbortSignal; readonly idleTimeoutMs: number } {
    return { signal: this.#signal, idleTimeoutMs: LIST_TIMEOUT_MS };
  }

  async #refreshStatus(server: string): Promise<void> {
    this.#statuses.set(server, toServerStatus(await this.#client.get<ServerStatusResponse>(pathOf(server))));
  }

  /** The list says what there is; the schemas stand in the one for programs that call. */
  async #readTools(server?: string): Promise<void> {
    const [listed, callable] = await Promise.all([
      this.#client.get<{ tools: readonly CatalogTool[] }>(`/api/tools${queryOf(server)}`),
      this.#client.get<{ tools: readonly SchemaTool[] }>('/tools'),
    ]);
    this.catalog.add(listed.tools, callable.tools);
  }
}

const pathOf = (server: string): string => `/api/servers/${encodeURIComponent(server)}`;
const queryOf = (server: string | undefined): string =>
  server === undefined ? '' : `?server=${encodeURIComponent(server)}`;

const outcomeUnknown = (cause: NoResponseError): TurnbuckleError =>
  new TurnbuckleError('CALL_OUTCOME_UNKNOWN', `The daemon stopped during the call: ${cause.message}.`, {
    cause,
    hint: 'The call may or may not have been made. Check the daemon: turnbuckle serve status',
  });
