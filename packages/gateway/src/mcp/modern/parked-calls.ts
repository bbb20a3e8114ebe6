/**
 * A server of an older revision asks in the middle of a call; a client of the newer one is asked by an answer
 * and calls again. Between the two the call waits here, under a name that only its caller can use; and what became of it,
 * if it ended meanwhile.
 */

import { randomBytes } from 'node:crypto';
import {
  Cancellation,
  type CancelSignal,
  identityOf,
  type Respondent,
  type ServerRequestAnswers,
} from 'turnbuckle';
import { SharedText } from '../http/answer-text.js';
import { mayTake } from '../http/shares.js';
import { jsonSize } from './json-size.js';
import { ASKS, CODES, isRecord, type Params, RpcError } from './protocol.js';
import { type Fingerprint, fingerprintOf } from './request-fingerprint.js';
import type { SurfaceRequest, SurfaceResult } from './surface-request.js';

const PREFIX = 'turnbuckle:';
/** How long a caller may take to come back with an answer. */
const WAIT_MS = 300_000;
const MOST_CALLS = 1_000;
const TOGETHER_MS = 20;
const OVER = 'The call is over';
const TOO_MANY = 'Too many calls wait for answers';
/** The most, in characters, that results take which wait for a client that was asked something meanwhile. */
const MAX_KEPT = 32 * 1_048_576;
const MAX_KEPT_OF_CALLER = 4 * 1_048_576;
/** The most, in bytes, that the params of calls take which go on while their client is asked. */
const MAX_PARAMS = 64 * 1_048_576;

type Kind = keyof typeof ASKS;
type Perform = (respondent: Respondent, signal: CancelSignal) => Promise<SurfaceResult>;

/** A question of a server, as the runtime puts it. */
interface Asked {
  readonly id?: string | number | undefined;
  readonly params: Params;
  readonly signal: AbortSignal;
}

interface Question {
  readonly method: string;
  readonly params: Params;
  readonly answer: (response: Params) => void;
  readonly refuse: (why: Error) => void;
}

export class ParkedCalls {
  readonly #calls = new Map<string, ParkedCall>();

  /** How many wait for their client. */
  get size(): number {
    return this.#calls.size;
  }

  /** Is this a name that was given here? */
  isOurs(state: unknown): state is string {
    return typeof state === 'string' && state.startsWith(PREFIX);
  }

  /** Begins the call; the answer is its result, or the first question of its server. */
  start(request: SurfaceRequest, client: ParkingClient, perform: Perform): Promise<SurfaceResult> {
    const { isOwner = false } = client;
    const call: ParkedCall = new ParkedCall(request, {
      mayPark: (weight) => this.#hasRoom({ identity: call.identity, isOwner, weight }),
      mayKeep: (size) => this.#mayKeep(size, call.identity),
      onParked: (id) => this.#calls.set(id, call),
      onOver: (id) => this.#calls.delete(id),
    });
    call.begin(client, perform);
    return call.next(request.signal);
  }

  /** Goes on with a call that waits. Throws an RpcError where there is none for this caller and request. */
  async resume(request: SurfaceRequest): Promise<SurfaceResult> {
    const { requestState, inputResponses } = request.params;
    const state = String(requestState);
    const isOwn = this.#calls.get(state)?.identity === identityOf(request.caller);
    const print = isOwn ? await fingerprintOf(request) : undefined;
    // Now: while this request was looked at, another one may have come for it.
    const call = this.#calls.get(state);
    if (print === undefined || call?.isFor(print) !== true)
      throw new RpcError(CODES.invalidParams, 'The requestState is not one that is waited for');
    call.answer(isRecord(inputResponses) ? inputResponses : {});
    return call.next(request.signal);
  }

  #hasRoom({ identity, isOwner, weight }: Wanted): boolean {
    const calls = [...this.#calls.values()];
    const own = calls.filter((call) => call.identity === identity);
    const heldBy = (some: readonly ParkedCall[]): number =>
      some.reduce((sum, call) => sum + call.weight, weight);
    return (
      mayTake({ own: own.length, taken: calls.length, max: MOST_CALLS, isOwner }) &&
      mayTake({ own: heldBy(own), taken: heldBy(calls), max: MAX_PARAMS, isOwner })
    );
  }

  #mayKeep(size: number, identity: string): boolean {
    let [own, all] = [size, size];
    for (const call of this.#calls.values()) {
      all += call.keptSize;
      if (call.identity === identity) own += call.keptSize;
    }
    return own <= MAX_KEPT_OF_CALLER && all <= MAX_KEPT;
  }

  close(): void {
    for (const call of this.#calls.values()) call.abort();
    this.#calls.clear();
  }
}

/** Who is asked, and comes back. */
export interface ParkingClient {
  readonly capabilities: Params;
  /** Aborts when nobody can come back any more. */
  readonly ended?: CancelSignal | undefined;
  readonly isOwner?: boolean | undefined;
}

/** A place for a call whose params take so much. */
interface Wanted {
  readonly identity: string;
  readonly isOwner: boolean;
  readonly weight: number;
}

interface ParkedCallOptions {
  readonly mayPark: (weight: number) => boolean;
  readonly mayKeep: (size: number) => boolean;
  readonly onParked: (id: string) => void;
  readonly onOver: (id: string) => void;
}

class ParkedCall {
  readonly identity: string;
  /** Of the result that waits for its client. */
  keptSize = 0;
  /** Until its fingerprint is taken: it may be large, and can wait here long after its call has ended. */
  #request: SurfaceRequest | undefined;
  #fingerprint: Fingerprint | undefined;
  readonly #options: ParkedCallOptions;
  readonly #cancellation = new Cancellation();
  readonly #questions = new Map<string, Question>();
  /** What it goes by while it waits; another one each time. */
  #id: string | undefined;
  #result: Promise<SurfaceResult> | undefined;
  #asked: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #count = 0;
  #isOver = false;

  constructor(request: SurfaceRequest, options: ParkedCallOptions) {
    this.identity = identityOf(request.caller);
    this.#request = request;
    this.#options = options;
  }

  /** What is held of its params: as long as the call goes on, all of them. */
  get weight(): number {
    return this.#isOver ? 0 : (this.#fingerprint?.weight ?? 0);
  }

  isFor({ mark }: Fingerprint): boolean {
    return this.#fingerprint?.mark === mark;
  }

  begin({ capabilities, ended }: ParkingClient, perform: Perform): void {
    const kinds = (Object.keys(ASKS) as Kind[]).filter((kind) => capabilities[kind] !== undefined);
    const answers = Object.fromEntries(
      kinds.map((kind) => [kind, (asked: Asked) => this.#ask(ASKS[kind], asked)]),
    );
    // What a client answers is checked by the runtime before it goes on to the server.
    const respondent: Respondent = {
      capabilities,
      answers: answers as ServerRequestAnswers,
      isWaiting: () => this.#questions.size > 0,
    };
    const end = (): void => this.#giveUp();
    const settle = (): void => {
      ended?.removeEventListener('abort', end);
      this.#finish();
    };
    ended?.addEventListener('abort', end);
    // Its end was told before anybody here could listen.
    if (ended?.aborted === true) end();
    this.#result = perform(respondent, this.#cancellation).then((result) => this.#keepable(result));
    this.#result.then(settle, settle);
  }

  /** Who was asked meanwhile has to come back for it: until then only so much is held. */
  #keepable(result: SurfaceResult): SurfaceResult {
    if (this.#id === undefined) return result;
    // Of a list that many are sent, nothing is kept for this one.
    const size = result instanceof SharedText ? 0 : jsonSize(result, MAX_KEPT_OF_CALLER);
    if (size !== undefined && this.#options.mayKeep(size)) {
      this.keptSize = size;
      return result;
    }
    throw new RpcError(
      CODES.internal,
      'The call ended while its client was asked, and its result is too large to be kept until it came back',
    );
  }

  /** The result, or what is asked, whichever comes first. A client that leaves takes a call with it that is not parked. */
  async next(signal: CancelSignal | undefined): Promise<SurfaceResult> {
    const leave = (): void => {
      if (this.#questions.size === 0) this.abort();
    };
    signal?.addEventListener('abort', leave, { once: true });
    try {
      for (;;) {
        if (this.#questions.size > 0) {
          // What a server asks at once is asked at once.
          await new Promise((resolve) => setTimeout(resolve, TOGETHER_MS));
          await this.#takeFingerprint();
          if (!this.#options.mayPark(this.weight)) this.#refuse(TOO_MANY);
          // It may have ended meanwhile, and then it has no questions; or nobody can come back for it any more.
          if (this.#questions.size > 0 && !this.#cancellation.aborted) return this.#park();
        }
        const asked = new Promise<undefined>((resolve) => {
          this.#asked = () => resolve(undefined);
        });
        const result = await Promise.race([this.#result, asked]);
        if (result !== undefined) return result;
      }
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }

  /** Takes what is answered; what is still missing is asked again. */
  answer(responses: Params): void {
    this.#unpark();
    for (const [key, { answer }] of this.#questions) {
      const response = Object.hasOwn(responses, key) ? responses[key] : undefined;
      if (!isRecord(response)) continue;
      this.#questions.delete(key);
      answer(response);
    }
  }

  abort(): void {
    this.#cancellation.cancel();
  }

  #ask(method: string, { id, params, signal }: Asked): Promise<Params> {
    if (this.#isOver) return Promise.reject(new Error(OVER));
    if (!this.#options.mayPark(this.weight)) return Promise.reject(new Error(TOO_MANY));
    this.#count += 1;
    const name = typeof id === 'string' ? id : onlyField(params);
    const key = name === undefined || this.#questions.has(name) ? `q${this.#count}` : name;
    return new Promise<Params>((resolve, reject) => {
      signal.addEventListener('abort', () => {
        this.#questions.delete(key);
        reject(signal.reason);
      });
      this.#questions.set(key, { method, params, answer: resolve, refuse: reject });
      this.#asked();
    });
  }

  #park(): Params {
    const id = `${PREFIX}${randomBytes(24).toString('base64url')}`;
    this.#id = id;
    this.#options.onParked(id);
    this.#timer = setTimeout(() => this.#giveUp(), WAIT_MS).unref();
    const inputRequests = Object.fromEntries(
      [...this.#questions].map(([key, { method, params }]) => [key, { method, params }]),
    );
    return { resultType: 'input_required', inputRequests, requestState: id };
  }

  /** Its place is free at once, however long the call takes to end. */
  #giveUp(): void {
    this.#unpark();
    this.abort();
  }

  /**
   * Nobody waits for the answer to a question of a call that has ended: a server may end one that it still asks about.
   * Its client does not know that yet: what became of the call is kept for it, in the same place and for the same time.
   */
  #finish(): void {
    this.#isOver = true;
    this.#refuse(OVER);
  }

  #refuse(why: string): void {
    const left = [...this.#questions.values()];
    this.#questions.clear();
    for (const { refuse } of left) refuse(new Error(why));
  }

  /** Not before somebody has to come back for it: most calls ask nothing. */
  async #takeFingerprint(): Promise<void> {
    if (this.#request !== undefined) this.#fingerprint = await fingerprintOf(this.#request);
    this.#request = undefined;
  }

  #unpark(): void {
    clearTimeout(this.#timer);
    if (this.#id !== undefined) this.#options.onOver(this.#id);
    this.#id = undefined;
  }
}

/** Older revisions have no names for questions; a form that asks for one thing is called after it. */
function onlyField({ requestedSchema }: Params): string | undefined {
  const fields =
    isRecord(requestedSchema) && isRecord(requestedSchema.properties) ? requestedSchema.properties : {};
  const [name, ...others] = Object.keys(fields);
  return others.length === 0 ? name : undefined;
}
