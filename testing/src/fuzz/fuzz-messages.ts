/** JSON-RPC messages that are nearly valid: they reach deeper code than random bytes do. */
import { FuzzJson, type Random } from './fuzz-json.js';

const NOTIFICATIONS = [
  ...['message', 'progress', 'cancelled', 'initialized', 'elicitation/complete', 'tasks/status'],
  ...['tools/list_changed', 'resources/list_changed', 'prompts/list_changed', 'resources/updated'],
  ...['subscriptions/acknowledged', 'roots/list_changed'],
].map((name) => `notifications/${name}`);

const SERVER_REQUESTS = ['ping', 'roots/list', 'sampling/createMessage', 'elicitation/create'];

const CLIENT_REQUESTS = [
  ...[
    'initialize',
    'ping',
    'server/discover',
    'tools/list',
    'tools/call',
    'resources/list',
    'resources/read',
  ],
  ...['resources/templates/list', 'resources/subscribe', 'resources/unsubscribe', 'prompts/list'],
  ...['prompts/get', 'completion/complete', 'logging/setLevel', 'subscriptions/listen'],
  ...['tasks/get', 'tasks/list', 'tasks/cancel', 'tasks/result', 'tasks/update', 'roots/list'],
];

const INVALID_METHODS = [
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  'then',
  'x'.repeat(3_000),
];

const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const META_CLIENT = 'io.modelcontextprotocol/clientInfo';
const META_SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

/** Values that mean something to the other side at the moment. */
export interface FuzzContext {
  /** Ids of its open requests. */
  readonly ids: readonly unknown[];
  readonly progressToken?: unknown;
  /** Known names of tools, URIs and so on. */
  readonly names?: readonly string[];
  /** A modern client sends its metadata in each request. */
  readonly modern?: boolean;
}

export class FuzzMessages {
  readonly json: FuzzJson;

  constructor(random: Random) {
    this.json = new FuzzJson(random);
  }

  /** One line, frame or event of a server. */
  serverMessage(context: FuzzContext): string {
    const text = this.#serverMessage(context);
    return this.json.chance(0.1) ? this.json.damage(text) : text;
  }

  /** One message of a client: some are valid, some have one fault, some have many. */
  clientMessage(context: FuzzContext): string {
    const { json } = this;
    const odd = json.pick([0, 0.01, 0.03, 0.15]);
    const kind = json.below(10);
    const method = this.#method(kind < 8 ? CLIENT_REQUESTS : NOTIFICATIONS, odd);
    const members =
      kind < 9 ? { method, params: this.#clientParams(context, odd) } : { result: json.value() };
    const text = this.#message(members, context, { withId: kind === 8 ? 0 : 1, odd });
    if (json.chance(odd / 3)) return json.damage(text);
    return json.chance(0.02) ? `[${text},${text}]` : text;
  }

  /** A response to a request, valid or not. */
  answer(id: unknown, result: string): string {
    const { json } = this;
    if (json.chance(0.3)) return this.#message({ result }, { ids: [id] }, { withId: 1 });
    if (json.chance(0.5))
      return this.#message(
        { result, error: json.pick(['null', json.value()]) },
        { ids: [id] },
        { withId: 1 },
      );
    return this.#message({ error: this.#error() }, { ids: [id] }, { withId: 1 });
  }

  /** A definition in a list of tools, resources, templates or prompts. */
  definition(index: number): string {
    const { json } = this;
    const name = JSON.stringify(`odd_${index}`);
    return json.object(
      {
        name,
        uri: JSON.stringify(`odd://${index}`),
        uriTemplate: JSON.stringify(`odd://${index}/{x}`),
        title: '"An odd one"',
        description: '"What it does"',
        inputSchema: json.object({ type: '"object"', properties: `{"a":${json.value()}}` }, 0.2),
        outputSchema: json.chance(0.8) ? '{"type":"object"}' : json.value(),
        annotations: json.object({ readOnlyHint: 'true', title: '"x"' }, 0.4),
        arguments: '[{"name":"a"}]',
        _meta: json.value(),
        icons: json.value(),
      },
      0.15,
    );
  }

  /** The result of a call. */
  result(): string {
    const { json } = this;
    return json.object({
      content: `[${json.object({ type: '"text"', text: '"said"', annotations: json.value() })}]`,
      structuredContent: json.value(),
      isError: 'false',
      resultType: json.pick(['"complete"', '"input_required"', '"task"', json.value()]),
      inputRequests: json.value(),
      _meta: json.value(),
      task: json.object({ taskId: '"t"', status: '"working"', ttlMs: json.value() }),
    });
  }

  #serverMessage(context: FuzzContext): string {
    const { json } = this;
    const kind = json.below(100);
    if (kind < 45)
      return this.#message(
        { method: this.#method(NOTIFICATIONS), params: this.#serverParams(context) },
        context,
        { withId: 0 },
      );
    if (kind < 60)
      return this.#message(
        { method: this.#method(SERVER_REQUESTS), params: this.#serverParams(context) },
        context,
        { withId: 1 },
      );
    if (kind < 75) return this.answer(json.pick(context.ids), this.result());
    if (kind < 80) return `[${this.#message({ result: '{}' }, context, { withId: 1 })}]`;
    if (kind < 90) return json.value();
    return this.#message(
      { method: this.#method(NOTIFICATIONS), result: json.value(), error: json.value() },
      context,
      { withId: 0.5 },
    );
  }

  #message(
    members: Readonly<Record<string, string>>,
    { ids }: FuzzContext,
    { withId, odd = 0.12 }: { readonly withId: number; readonly odd?: number },
  ): string {
    const { json } = this;
    const id = json.chance(odd) ? json.value() : JSON.stringify(json.pick(ids));
    return json.object({ jsonrpc: '"2.0"', ...(json.chance(withId) && { id }), ...members }, odd);
  }

  #method(usual: readonly string[], odd = 0.15): string {
    return JSON.stringify(this.json.pick(this.json.chance(odd) ? INVALID_METHODS : usual));
  }

  #error(): string {
    const { json } = this;
    return json.chance(0.2)
      ? json.value()
      : json.object({
          code: json.pick(['-32603', '-32020', '-32601', '1']),
          message: '"bad"',
          data: json.value(),
        });
  }

  #serverParams({ ids, progressToken }: FuzzContext): string {
    const { json } = this;
    return json.object({
      level: '"info"',
      data: json.value(),
      logger: '"x"',
      progressToken: JSON.stringify(progressToken ?? json.pick(ids)),
      progress: json.pick(['1', json.value()]),
      total: json.value(),
      message: json.pick(['"working"', json.value()]),
      requestId: JSON.stringify(json.pick(ids)),
      uri: '"odd://1"',
      mode: json.pick(['"form"', '"url"', json.value()]),
      url: json.value(),
      requestedSchema: json.object({ type: '"object"', properties: `{"a":${json.value()}}` }),
      messages: `[${json.object({ role: '"user"', content: json.value() })}]`,
      maxTokens: json.pick(['10', json.value()]),
      _meta: `{${JSON.stringify(META_SUBSCRIPTION)}:${JSON.stringify(json.pick(ids))}}`,
    });
  }

  #clientParams({ ids, names = [], modern = false }: FuzzContext, odd: number): string {
    const { json } = this;
    const or = (...usual: string[]): string => (json.chance(odd * 2) ? json.value() : json.pick(usual));
    const name = or(...names.map((one) => JSON.stringify(one)), '"nobody"');
    const meta = json.object(
      {
        [META_VERSION]: '"2026-07-28"',
        [META_CAPABILITIES]: or('{}', '{"elicitation":{},"sampling":{},"roots":{}}'),
        [META_CLIENT]: '{"name":"odd","version":"1"}',
        progressToken: or('7', '"p"'),
      },
      odd,
    );
    return json.object(
      {
        name,
        uri: name,
        arguments: or('{}', '{"text":"x"}', '{"a":1,"b":2}'),
        protocolVersion: or('"2025-11-25"', '"2024-11-05"'),
        capabilities: or('{}'),
        clientInfo: or('{"name":"odd","version":"1"}'),
        level: or('"debug"'),
        ref: json.object({ type: '"ref/prompt"', name }, odd),
        argument: json.object({ name: '"a"', value: '""' }, odd),
        ...(json.chance(odd) && {
          cursor: json.value(),
          inputResponses: json.value(),
          requestState: json.value(),
        }),
        taskId: or('"good~t"'),
        requestId: JSON.stringify(json.pick(ids)),
        notifications: or('{"toolsListChanged":true}'),
        ...(modern !== json.chance(odd) && { _meta: meta }),
      },
      odd,
    );
  }
}
