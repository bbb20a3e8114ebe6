/**
 * A server of an older revision sends a request during a call; a client of the newer revision gets it as a result and
 * calls again. In between, the call is parked here under a name that only its caller can use. If the call ends
 * meanwhile, its outcome is kept.
 */

import { randomBytes } from 'node:crypto';
import type { Caller, ServerRequestAnswers } from 'turnbuckle';
import { Cancellation, type CancelSignal, type ClientResponder, identityOf, isRecord } from 'turnbuckle/host';
import { isWithinFairShare } from '../../http/limits/fair-share.js';
import { SharedText } from '../../http/response-text.js';
import type { DispatcherRequest, DispatcherResult } from '../dispatcher-request.js';
import { estimateJsonBytes } from '../protocol/estimate-json-bytes.js';
import { CLIENT_REQUEST_METHODS, CODES, type Params, RpcError } from '../protocol/protocol.js';
import { type Fingerprint, fingerprintOf } from '../sealed/request-fingerprint.js';

const PREFIX = 'turnbuckle:';
/** How long a caller may take to come back with the input. */
const RESUME_TIMEOUT_MS = 300_000;
const MAX_PARKED_CALLS = 1_000;
const BATCH_MS = 20;
const CALL_ENDED = 'The call has finished';
const TOO_MANY = 'Too many calls are waiting for client input';
/** The limit, in characters, for results kept for a client that has to come back. */
const MAX_RESULT_CHARACTERS = 32 * 1_048_576;
const MAX_RESULT_CHARACTERS_PER_CALLER = 4 * 1_048_576;
/** The limit, in bytes, for the params of calls that continue while their client is asked. */
const MAX_PARAMS_BYTES = 64 * 1_048_576;

type Kind = keyof typeof CLIENT_REQUEST_METHODS;
type Perform = (responder: ClientResponder, signal: CancelSignal) => Promise<DispatcherResult>;

/** A request of a server, as the runtime passes it. */
interface ServerRequest {
  readonly id?: string | number | undefined;
  readonly params: Params;
  readonly signal: AbortSignal;
}

interface PendingServerRequest {
  readonly method: string;
  readonly params: Params;
  readonly answer: (response: Params) => void;
  readonly refuse: (why: Error) => void;
}

export class ParkedCalls {
  readonly #calls = new Map<string, ParkedCall>();

  /** How many calls wait for their client. */
  get size(): number {
    return this.#calls.size;
  }

  /** Whether the name was issued here. */
  isParkedState(state: unknown): state is string {
    return typeof state === 'string' && state.startsWith(PREFIX);
  }

  /** Starts the call; resolves with its result, or with the first request of its server. */
  start(request: DispatcherRequest, client: ParkingClient, perform: Perform): Promise<DispatcherResult> {
    const { isOwner = false } = client;
    const call: ParkedCall = new ParkedCall(request, {
      mayPark: (weight) => this.#hasCapacity({ identity: call.identity, isOwner, weight }),
      mayKeep: (size) => this.#mayKeep(size, call.identity),
      onParked: (id) => this.#calls.set(id, call),
      onUnparked: (id) => this.#calls.delete(id),
    });
    call.begin(client, perform);
    return call.next(request.signal);
  }

  /** Resumes a parked call. Throws an RpcError if there is none for this caller and request. */
  async resume(
    request: DispatcherRequest,
    { mayStillCall, refuse }: ResumeGuard = NO_GUARD,
  ): Promise<DispatcherResult> {
    const { requestState, inputResponses } = request.params;
    const state = String(requestState);
    const isOwn = this.#calls.get(state)?.identity === identityOf(request.caller);
    const print = isOwn ? await fingerprintOf(request) : undefined;
    // Check now: another request may have resumed it while this one was processed.
    const call = this.#calls.get(state);
    const isSame = print !== undefined && call?.matches(print) === true;
    if (!isSame || !(call.isWithinRightsOf(request.caller) || mayStillCall(request)))
      return refuse(request, new RpcError(CODES.invalidParams, 'Unknown or expired requestState'));
    call.answer(isRecord(inputResponses) ? inputResponses : {});
    return call.next(request.signal);
  }

  #hasCapacity({ identity, isOwner, weight }: ParkRequest): boolean {
    const calls = [...this.#calls.values()];
    const own = calls.filter((call) => call.identity === identity);
    const heldBy = (some: readonly ParkedCall[]): number =>
      some.reduce((sum, call) => sum + call.weight, weight);
    return (
      isWithinFairShare({ own: own.length, taken: calls.length, max: MAX_PARKED_CALLS, isOwner }) &&
      isWithinFairShare({ own: heldBy(own), taken: heldBy(calls), max: MAX_PARAMS_BYTES, isOwner })
    );
  }

  #mayKeep(size: number, identity: string): boolean {
    let [own, all] = [size, size];
    for (const call of this.#calls.values()) {
      all += call.keptSize;
      if (call.identity === identity) own += call.keptSize;
    }
    return own <= MAX_RESULT_CHARACTERS_PER_CALLER && all <= MAX_RESULT_CHARACTERS;
  }

  close(): void {
    for (const call of this.#calls.values()) call.abort();
    this.#calls.clear();
  }
}

/** The same caller may come back with a token of fewer rights. */
interface ResumeGuard {
  /** Whether the caller of the request may make this call now. */
  readonly mayStillCall: (request: DispatcherRequest) => boolean;
  /** Records the refusal, and throws it. */
  readonly refuse: (request: DispatcherRequest, thrown: unknown) => Promise<never>;
}

const NO_GUARD: ResumeGuard = {
  mayStillCall: () => false,
  refuse: (_request, thrown) => Promise.reject(thrown),
};

/** The caller that is asked and comes back. */
export interface ParkingClient {
  readonly capabilities: Params;
  /** Aborts when the caller can no longer come back. */
  readonly ended?: CancelSignal | undefined;
  readonly isOwner?: boolean | undefined;
}

/** Reserves a slot for a call whose params take this much memory. */
interface ParkRequest {
  readonly identity: string;
  readonly isOwner: boolean;
  readonly weight: number;
}

interface ParkedCallOptions {
  readonly mayPark: (weight: number) => boolean;
  readonly mayKeep: (size: number) => boolean;
  readonly onParked: (id: string) => void;
  readonly onUnparked: (id: string) => void;
}

class ParkedCall {
  readonly identity: string;
  readonly #capabilities: readonly string[];
  readonly #limits: Caller['limits'];
  /** The size of the result that waits for its client. */
  keptSize = 0;
  /** Kept until its fingerprint is computed: it may be large, and could stay long after its call has ended. */
  #request: DispatcherRequest | undefined;
  #fingerprint: Fingerprint | undefined;
  readonly #options: ParkedCallOptions;
  readonly #cancellation = new Cancellation();
  readonly #serverRequests = new Map<string, PendingServerRequest>();
  /** Its name while it is parked; a new one each time. */
  #id: string | undefined;
  #result: Promise<DispatcherResult> | undefined;
  #notifyAsked: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #requestCount = 0;
  #hasEnded = false;

  constructor(request: DispatcherRequest, options: ParkedCallOptions) {
    this.identity = identityOf(request.caller);
    this.#capabilities = request.caller.capabilities;
    this.#limits = request.caller.limits;
    this.#request = request;
    this.#options = options;
  }

  /** The memory of its params, held as long as the call runs. */
  get weight(): number {
    return this.#hasEnded ? 0 : (this.#fingerprint?.weight ?? 0);
  }

  /** Whether the caller has all rights that the call was started with: its view may have changed, too. */
  isWithinRightsOf({ capabilities, limits }: DispatcherRequest['caller']): boolean {
    return limits === this.#limits && this.#capabilities.every((word) => capabilities.includes(word));
  }

  matches({ hash }: Fingerprint): boolean {
    return this.#fingerprint?.hash === hash;
  }

  begin({ capabilities, ended }: ParkingClient, perform: Perform): void {
    const kinds = (Object.keys(CLIENT_REQUEST_METHODS) as Kind[]).filter(
      (kind) => capabilities[kind] !== undefined,
    );
    const answers = Object.fromEntries(
      kinds.map((kind) => [
        kind,
        (asked: ServerRequest) => this.#requestFromClient(CLIENT_REQUEST_METHODS[kind], asked),
      ]),
    );
    // The runtime checks the input of a client before it goes to the server.
    const responder: ClientResponder = {
      capabilities,
      answers: answers as ServerRequestAnswers,
      isWaiting: () => this.#serverRequests.size > 0,
    };
    const end = (): void => this.#abandon();
    const settle = (): void => {
      ended?.removeEventListener('abort', end);
      this.#finish();
    };
    ended?.addEventListener('abort', end);
    // The abort event came before there was a listener.
    if (ended?.aborted === true) end();
    this.#result = perform(responder, this.#cancellation).then((result) => this.#requireKeepable(result));
    this.#result.then(settle, settle);
  }

  /** A client that was asked has to come back for the result; only a limited amount is kept until then. */
  #requireKeepable(result: DispatcherResult): DispatcherResult {
    if (this.#id === undefined) return result;
    // A shared list is not kept for one client.
    const size =
      result instanceof SharedText ? 0 : estimateJsonBytes(result, MAX_RESULT_CHARACTERS_PER_CALLER);
    if (size !== undefined && this.#options.mayKeep(size)) {
      this.keptSize = size;
      return result;
    }
    throw new RpcError(
      CODES.internal,
      'The call finished before the client sent the requested input, and its result is too large to store',
    );
  }

  /** The result or a request, whichever comes first. A call that is not parked ends when its client disconnects. */
  async next(signal: CancelSignal | undefined): Promise<DispatcherResult> {
    const leave = (): void => {
      if (this.#serverRequests.size === 0) this.abort();
    };
    signal?.addEventListener('abort', leave, { once: true });
    try {
      for (;;) {
        if (this.#serverRequests.size > 0) {
          // Requests that a server sends together are passed on together.
          await new Promise((resolve) => setTimeout(resolve, BATCH_MS));
          await this.#takeFingerprint();
          if (!this.#options.mayPark(this.weight)) this.#refuse(TOO_MANY);
          // The call may have ended meanwhile and have no requests, or the caller can no longer come back.
          if (this.#serverRequests.size > 0 && !this.#cancellation.aborted) return this.#park();
        }
        const asked = new Promise<undefined>((resolve) => {
          this.#notifyAsked = () => resolve(undefined);
        });
        const result = await Promise.race([this.#result, asked]);
        if (result !== undefined) return result;
      }
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }

  /** Takes the input that was sent; what is missing is requested again. */
  answer(responses: Params): void {
    this.#unpark();
    for (const [key, { answer }] of this.#serverRequests) {
      const response = Object.hasOwn(responses, key) ? responses[key] : undefined;
      if (!isRecord(response)) continue;
      this.#serverRequests.delete(key);
      answer(response);
    }
  }

  abort(): void {
    this.#cancellation.cancel();
  }

  #requestFromClient(method: string, { id, params, signal }: ServerRequest): Promise<Params> {
    if (this.#hasEnded) return Promise.reject(new Error(CALL_ENDED));
    if (!this.#options.mayPark(this.weight)) return Promise.reject(new Error(TOO_MANY));
    this.#requestCount += 1;
    const name = typeof id === 'string' ? id : onlyField(params);
    const key = name === undefined || this.#serverRequests.has(name) ? `q${this.#requestCount}` : name;
    return new Promise<Params>((resolve, reject) => {
      signal.addEventListener('abort', () => {
        this.#serverRequests.delete(key);
        reject(signal.reason);
      });
      this.#serverRequests.set(key, { method, params, answer: resolve, refuse: reject });
      this.#notifyAsked();
    });
  }

  #park(): Params {
    const id = `${PREFIX}${randomBytes(24).toString('base64url')}`;
    this.#id = id;
    this.#options.onParked(id);
    this.#timer = setTimeout(() => this.#abandon(), RESUME_TIMEOUT_MS).unref();
    const inputRequests = Object.fromEntries(
      [...this.#serverRequests].map(([key, { method, params }]) => [key, { method, params }]),
    );
    return { resultType: 'input_required', inputRequests, requestState: id };
  }

  /** Frees its slot immediately, however long the call takes to end. */
  #abandon(): void {
    this.#unpark();
    this.abort();
  }

  /**
   * A server may end a call while one of its requests is open. Nothing waits for that input any more, but the client does
   * not know it yet: the outcome of the call is kept for it in the same slot and for the same time.
   */
  #finish(): void {
    this.#hasEnded = true;
    this.#refuse(CALL_ENDED);
  }

  #refuse(why: string): void {
    const left = [...this.#serverRequests.values()];
    this.#serverRequests.clear();
    for (const { refuse } of left) refuse(new Error(why));
  }

  /** Computed only when a client has to come back: most calls send no requests. */
  async #takeFingerprint(): Promise<void> {
    if (this.#request !== undefined) this.#fingerprint = await fingerprintOf(this.#request);
    this.#request = undefined;
  }

  #unpark(): void {
    clearTimeout(this.#timer);
    if (this.#id !== undefined) this.#options.onUnparked(this.#id);
    this.#id = undefined;
  }
}

/** Requests of older revisions have no names; a form with one field is named after it. */
function onlyField({ requestedSchema }: Params): string | undefined {
  const fields =
    isRecord(requestedSchema) && isRecord(requestedSchema.properties) ? requestedSchema.properties : {};
  const [name, ...others] = Object.keys(fields);
  return others.length === 0 ? name : undefined;
}
