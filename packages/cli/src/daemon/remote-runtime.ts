/** The servers of a daemon, looked at and used through its API. What is known of them is as of the last request. */
import type { CallOptions, CatalogTool, Runtime, ServerStatus } from 'turnbuckle';
import type { Servers } from '../servers.js';
import { unknownServer } from '../unknown-server.js';
import { DaemonCatalog, type SchemaTool } from './daemon-catalog.js';
import { type DaemonClient, type Refusal, refusalOf } from './daemon-client.js';
import { type SentStatus, toStatus } from './sent-status.js';

type Listed<Method extends 'listResources' | 'listResourceTemplates' | 'listPrompts'> = Awaited<
  ReturnType<Runtime[Method]>
>;
type Options = Pick<CallOptions, 'signal'>;

const PATIENCE_MS = 60_000;

export class AttachedServers implements Servers {
  readonly areElsewhere = true;
  readonly catalog = new DaemonCatalog();
  readonly #client: DaemonClient;
  readonly #signal: AbortSignal;
  readonly #statuses = new Map<string, ServerStatus>();

  private constructor(client: DaemonClient, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** Knows all servers and their tools, as far as they are up. */
  static async open(client: DaemonClient, signal: AbortSignal): Promise<AttachedServers> {
    const attached = new AttachedServers(client, signal);
    const { servers } = await client.get<{ servers: readonly { readonly name: string }[] }>('/api/servers');
    const statuses = await Promise.all(servers.map(({ name }) => client.get<SentStatus>(pathOf(name))));
    for (const status of statuses) attached.#statuses.set(status.name, toStatus(status));
    // Afterwards, so that the tools of every server that is up are among them.
    await attached.#readTools();
    return attached;
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
      await this.#look(server);
    }
  }

  async ping(server: string): Promise<boolean> {
    const { alive } = await this.#client.post<{ alive: boolean }>(
      `${pathOf(server)}/ping`,
      {},
      this.#options(),
    );
    await this.#look(server);
    return alive;
  }

  tools(): readonly CatalogTool[] {
    return this.catalog.list();
  }

  async listResources(server?: string): Promise<Listed<'listResources'>> {
    return (await this.#offers(server)).resources;
  }

  async listResourceTemplates(server?: string): Promise<Listed<'listResourceTemplates'>> {
    return (await this.#offers(server)).templates;
  }

  async listPrompts(server?: string): Promise<Listed<'listPrompts'>> {
    const { prompts } = await this.#client.get<{ prompts: Listed<'listPrompts'> }>(
      `/api/prompts${queryOf(server)}`,
      this.#options(),
    );
    return prompts;
  }

  readResource(server: string, uri: string, options?: Options): ReturnType<Runtime['readResource']> {
    return this.#use('/resources/read', { server, uri }, options);
  }

  getPrompt(
    server: string,
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: Options,
  ): ReturnType<Runtime['getPrompt']> {
    return this.#use('/prompts/get', { server, name, arguments: args }, options);
  }

  async #use<T>(path: string, body: object, { signal = this.#signal }: Options = {}): Promise<T> {
    const answer = await this.#client.post<Refusal & { readonly result?: T }>(path, body, { signal });
    if (answer.result === undefined) throw refusalOf(answer);
    return answer.result;
  }

  #offers(server: string | undefined): Promise<{
    readonly resources: Listed<'listResources'>;
    readonly templates: Listed<'listResourceTemplates'>;
  }> {
    return this.#client.get(`/api/resources${queryOf(server)}`, this.#options());
  }

  /** Servers may take their time to say what they have. */
  #options(): { readonly signal: AbortSignal; readonly silenceMs: number } {
    return { signal: this.#signal, silenceMs: PATIENCE_MS };
  }

  async #look(server: string): Promise<void> {
    this.#statuses.set(server, toStatus(await this.#client.get<SentStatus>(pathOf(server))));
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
