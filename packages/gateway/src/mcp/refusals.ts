/** Requests that end before they reach the call path are recorded like calls, so that guesses leave a trace. */
import { type Runtime, TurnbuckleError } from 'turnbuckle';
import { ERRORS, isRecord, type RefusedCall } from 'turnbuckle/host';
import { hostOrCaller } from '../identity/host-or-caller.js';
import { withoutMeta } from './dispatcher-params.js';
import type { DispatcherRequest } from './dispatcher-request.js';
import { type Params, RpcError } from './protocol/protocol.js';

type Request = Pick<DispatcherRequest, 'method' | 'params' | 'caller'>;
type Named = Pick<RefusedCall, 'kind' | 'item' | 'arguments'>;

export class Refusals {
  readonly #runtime: Pick<Runtime, 'recordRefusal'>;
  readonly #begun = new WeakSet<Request>();

  constructor(runtime: Pick<Runtime, 'recordRefusal'>) {
    this.#runtime = runtime;
  }

  /** The request has reached the call path, which records its outcome. */
  setBegun(request: Request): void {
    this.#begun.add(request);
  }

  /** Records the request if it ends before that. */
  record<Result>(request: Request, work: Promise<Result>): Promise<Result> {
    return work.catch((thrown) => {
      if (this.#begun.has(request)) throw thrown;
      return this.refuse(request, thrown);
    });
  }

  /** Records the request, and throws. */
  async refuse(request: Request, thrown: unknown): Promise<never> {
    const named = itemOf(request);
    const caller = hostOrCaller(request.caller);
    if (named !== undefined) await this.#runtime.recordRefusal({ ...named, caller }, toRefusal(thrown));
    throw thrown;
  }
}

/** What the request names; undefined for a list, which names nothing. */
function itemOf({ method, params }: Request): Named | undefined {
  if (method.endsWith('/list') && method !== 'tasks/list') return undefined;
  const { uri, name, ref } = params;
  const args = withoutMeta(params);
  if (method === 'tools/call') return named('tool', name, isRecord(params.arguments) ? params.arguments : {});
  if (method === 'resources/read' || method === 'resources/subscribe') return named('resource', uri, args);
  if (method === 'prompts/get') return named('prompt', name, args);
  if (method !== 'completion/complete') return named('tool', method, args);
  if (!isRecord(ref)) return named('prompt', undefined, args);
  return ref.type === 'ref/prompt' ? named('prompt', ref.name, args) : named('resource', ref.uri, args);
}

const named = (kind: Named['kind'], item: unknown, args: Params): Named => ({
  kind,
  item: typeof item === 'string' ? item : '',
  arguments: args,
});

/** An error of the protocol has one of our codes if it is a refusal, and otherwise says that the request is invalid. */
function toRefusal(thrown: unknown): unknown {
  if (!(thrown instanceof RpcError)) return thrown;
  const code = isRecord(thrown.data) ? thrown.data.code : undefined;
  const known =
    typeof code === 'string' && Object.hasOwn(ERRORS, code) ? (code as keyof typeof ERRORS) : undefined;
  return new TurnbuckleError(known ?? 'REQUEST_INVALID', thrown.message);
}
