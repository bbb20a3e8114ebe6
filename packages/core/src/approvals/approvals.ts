/**
 * Asking a person: the question as data, the answer from whoever is there to give it, silence is no. What
 * was answered for the session is remembered here; what holds for ever is kept by others.
 */
import { type CancelSignal, offAbort, onAbort } from '../cancel-signal.js';
import { TurnbuckleError } from '../errors.js';
import type { Events } from '../events.js';
import { timerDelay } from '../resilience/timer-delay.js';
import type { ApprovalAnswer, ApprovalRequest, Approve } from './approval-request.js';

export interface ApprovalsOptions {
  readonly approve: Approve | undefined;
  /** Without an approver, questions wait for `answer()` instead of failing. */
  readonly queue: boolean;
  /** What to do when nobody is there, if not what a program would do. */
  readonly hint?: ApprovalHint | undefined;
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly createId: () => string;
  readonly events: Events;
}

/** A text, or one made of what the call is about. */
export type ApprovalHint =
  | string
  | ((asked: Pick<ApprovalRequest, 'server' | 'tool' | 'kind' | 'callerId'>) => string);

/** A question before it has an id and a time. */
export interface Question extends Omit<ApprovalRequest, 'id' | 'createdAt' | 'expiresAt'> {
  /** What an answer for the session holds for. */
  readonly memory: string;
  /** Whose share of the questions it takes; absent: that of the caller's name. */
  readonly identity?: string | undefined;
  /** The same for the same call, made again; absent: no other is the same. */
  readonly key?: string | undefined;
  /** Keeps an "always" that comes when the call does not wait any more. Never rejects. */
  readonly keep?: (() => Promise<void>) | undefined;
  /** All that is sent, where the question shows only a part of it. Without secrets, like that part. */
  readonly whole?: (() => Promise<WholeCall>) | undefined;
}

export type WholeCall = Pick<ApprovalRequest, 'arguments' | 'alsoSent'>;

/** How a call waits for the answer. */
export interface Waiting {
  /** After so long the call ends with APPROVAL_PENDING, and the question stays; absent: it waits to the end. */
  readonly patienceMs?: number | undefined;
  /** What is asked, as soon as it is. */
  readonly onAsked?: ((request: ApprovalRequest) => void) | undefined;
}

/** Who gave an answer, or what stood in for one. */
export type AnsweredBy = 'approver' | 'expiry' | 'cancelled' | 'closed' | 'failure' | (string & {});

interface Pending {
  readonly request: ApprovalRequest;
  readonly question: Question;
  readonly settle: (answer: Given) => void;
  /** Aborts when it is answered. */
  readonly over: AbortSignal;
  /** The call that waits for it; undefined when that could not wait any longer. */
  waiter: ((given: Given) => void) | undefined;
}

interface Given {
  readonly answer: ApprovalAnswer;
  readonly by: AnsweredBy;
  readonly cause?: unknown;
  /** There is nobody who could answer. */
  readonly isAbandoned?: boolean;
}

const ANSWERS: ReadonlySet<unknown> = new Set<ApprovalAnswer>(['once', 'session', 'always', 'deny']);
const MOST_PENDING = 1_000;
const MOST_PENDING_OF_CALLER = 100;
const MOST_REMEMBERED = 10_000;
/** A yes to a call that did not wait any more is good for so long, for that call once. */
const GRANT_MS = 600_000;

export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #pending = new Map<string, Pending>();
  readonly #session = new Set<string>();
  /** When each yes runs out that nobody has used yet. */
  readonly #granted = new Map<string, number>();
  #closed = false;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /** What waits for an answer now, the oldest first. */
  pending(): ApprovalRequest[] {
    return [...this.#pending.values()].map(({ request }) => request);
  }

  /** A question with all that is sent, however long; undefined when it does not wait any longer. */
  async whole(id: string): Promise<ApprovalRequest | undefined> {
    const pending = this.#pending.get(id);
    if (pending?.request.isCut !== true || pending.question.whole === undefined) return pending?.request;
    const { isCut: _isCut, notShown: _notShown, ...request } = pending.request;
    return { ...request, ...(await pending.question.whole()) };
  }

  /** Answers a question; false when it does not wait any longer. `by` names who did, for the record. */
  answer(id: string, answer: ApprovalAnswer, by = 'answer()'): boolean {
    const pending = this.#pending.get(id);
    if (pending === undefined) return false;
    // An answer that is none of the words is no yes; what was not offered was not agreed to.
    pending.settle({ answer: ANSWERS.has(answer) ? offered(answer, pending.request) : 'deny', by });
    return true;
  }

  /** Nobody can be asked after all: the call is told so, with what to do. False when it does not wait any longer. */
  abandon(id: string): boolean {
    const pending = this.#pending.get(id);
    pending?.settle({ answer: 'deny', by: 'nobody', isAbandoned: true });
    return pending !== undefined;
  }

  /** Whether somebody said yes to this for the session. */
  remembers(memory: string): boolean {
    return this.#session.has(memory);
  }

  /** Holds until the end; whoever waits for the same gets it too. */
  remember(memory: string): void {
    const [oldest] = this.#session;
    if (this.#session.size >= MOST_REMEMBERED && oldest !== undefined) this.#session.delete(oldest);
    this.#session.add(memory);
    for (const pending of [...this.#pending.values()])
      if (pending.question.memory === memory)
        pending.settle({ answer: 'session', by: 'an answer for the session' });
  }

  /**
   * Resolves with a yes; rejects with APPROVAL_NEEDED, APPROVAL_PENDING, CALL_DENIED, CALL_CANCELLED or OVERLOADED. The
   * same call, made again, goes on with a question that nobody waits for, or with the yes that it got meanwhile.
   */
  async ask(
    question: Question,
    signal: CancelSignal | undefined,
    { patienceMs, onAsked }: Waiting = {},
  ): Promise<Exclude<ApprovalAnswer, 'deny'>> {
    const { approve, queue } = this.#options;
    if (this.#closed) throw closed(question);
    if (approve === undefined && !queue) throw nobodyThere(question, this.#options.hint);
    if (this.#takeGrant(question.key)) return 'once';
    const left = this.#left(question.key);
    const pending = left ?? this.#open(question);
    // Before anybody hears of it: who does may answer at once.
    const waiting = this.#wait(pending, signal, patienceMs);
    if (left === undefined) this.#put(pending);
    if (this.#pending.has(pending.request.id)) onAsked?.(pending.request);
    const given = await waiting;
    if (given === undefined) throw stillOpen(pending.request);
    if (given.isAbandoned === true) throw nobodyThere(question, this.#options.hint);
    if (given.answer === 'deny') throw refused(question, given);
    // What was not offered was not agreed to.
    return offered(given.answer, pending.request);
  }

  /** Nobody will answer any more: everything that waits is refused. */
  close(): void {
    this.#closed = true;
    for (const { settle } of [...this.#pending.values()]) settle({ answer: 'deny', by: 'closed' });
    this.#session.clear();
    this.#granted.clear();
  }

  #toRequest(asked: Question): ApprovalRequest {
    const {
      memory: _memory,
      identity: _identity,
      key: _key,
      keep: _keep,
      whole: _whole,
      ...question
    } = asked;
    const { now, createId, timeoutMs } = this.#options;
    const time = now();
    return {
      id: createId(),
      ...question,
      createdAt: new Date(time).toISOString(),
      expiresAt: new Date(time + timeoutMs).toISOString(),
    };
  }

  /** A question that is there already, and nobody waits for: two calls never share one. */
  #left(key: string | undefined): Pending | undefined {
    if (key === undefined) return undefined;
    for (const pending of this.#pending.values())
      if (pending.question.key === key && pending.waiter === undefined) return pending;
    return undefined;
  }

  /** It is open until it is answered or its time is over. */
  #open(question: Question): Pending {
    this.#assertRoom(question);
    const { events, now, timeoutMs } = this.#options;
    const request = this.#toRequest(question);
    const started = now();
    const over = new AbortController();
    const timer = setTimeout(() => settle({ answer: 'deny', by: 'expiry' }), timerDelay(timeoutMs));
    const settle = (given: Given): void => {
      if (!this.#pending.delete(request.id)) return;
      clearTimeout(timer);
      over.abort();
      const { id, requestId, server, tool, callerId } = request;
      const { answer, by } = given;
      const waitedMs = now() - started;
      events.emit('approval.answered', { id, requestId, server, tool, callerId, answer, by, waitedMs });
      if (pending.waiter === undefined) this.#keepFor(pending, given);
      else pending.waiter(given);
    };
    const pending: Pending = { request, question, settle, over: over.signal, waiter: undefined };
    this.#pending.set(request.id, pending);
    return pending;
  }

  #put({ request, over }: Pending): void {
    const { approve, events } = this.#options;
    events.emit('approval.asked', request);
    if (approve !== undefined) this.#askApprover(approve, request, over);
  }

  /** The answer; undefined when it did not come within the patience. Who goes away takes the question along. */
  #wait(
    pending: Pending,
    signal: CancelSignal | undefined,
    patienceMs: number | undefined,
  ): Promise<Given | undefined> {
    return new Promise((resolve) => {
      const cancel = (): void => pending.settle({ answer: 'deny', by: 'cancelled' });
      const leave = (given: Given | undefined): void => {
        clearTimeout(timer);
        offAbort(signal, cancel);
        pending.waiter = undefined;
        resolve(given);
      };
      const timer =
        patienceMs === undefined ? undefined : setTimeout(() => leave(undefined), timerDelay(patienceMs));
      pending.waiter = leave;
      onAbort(signal, cancel);
      if (signal?.aborted === true) cancel();
    });
  }

  /** An answer that no call waits for is kept for the same call, made again. */
  #keepFor({ request, question: { key, memory, keep } }: Pending, { answer }: Given): void {
    if (answer === 'deny') return;
    const given = offered(answer, request);
    if (given === 'once') {
      const [oldest] = this.#granted.keys();
      if (this.#granted.size >= MOST_REMEMBERED && oldest !== undefined) this.#granted.delete(oldest);
      if (key !== undefined) this.#granted.set(key, this.#options.now() + GRANT_MS);
      return;
    }
    this.remember(memory);
    if (given === 'always') void keep?.();
  }

  #takeGrant(key: string | undefined): boolean {
    const until = key === undefined ? undefined : this.#granted.get(key);
    if (key === undefined || until === undefined) return false;
    this.#granted.delete(key);
    return until > this.#options.now();
  }

  #askApprover(approve: Approve, request: ApprovalRequest, signal: AbortSignal): void {
    const settle = (given: Given): void => this.#pending.get(request.id)?.settle(given);
    // Started here and not in a promise, so that an approver that throws at once is one that fails.
    void (async () => approve(request, signal))().then(
      (answer) => this.answer(request.id, answer, 'approver'),
      (cause: unknown) => settle({ answer: 'deny', by: 'failure', cause }),
    );
  }

  #assertRoom(question: Question): void {
    const { server, tool } = question;
    const own = askerOf(question);
    const ofCaller = [...this.#pending.values()].filter(({ question: other }) => askerOf(other) === own);
    if (this.#pending.size < MOST_PENDING && ofCaller.length < MOST_PENDING_OF_CALLER) return;
    throw new TurnbuckleError('OVERLOADED', 'Too many calls wait for an approval already.', {
      server,
      tool,
      hint: 'Answer those that wait, or let them expire.',
    });
  }
}

/** The answer, or the next weaker one that can be given. */
function offered<Answer extends ApprovalAnswer>(
  answer: Answer,
  { answers }: ApprovalRequest,
): Answer | 'session' | 'once' {
  if ((answer !== 'always' && answer !== 'session') || answers.includes(answer)) return answer;
  return answers.includes('session') ? 'session' : 'once';
}

const askerOf = ({ identity, callerId }: Question): string | undefined => identity ?? callerId;

const HINT = 'Give the runtime an approve function, or allow the call by a rule.';

function nobodyThere(
  { toolName, server, tool, kind, callerId, reason, change, rule }: Question,
  hint: ApprovalHint = HINT,
): TurnbuckleError {
  return new TurnbuckleError(
    'APPROVAL_NEEDED',
    `The call of "${toolName}" needs an approval (${reason}), and nobody is there to give one.`,
    {
      server,
      tool,
      hint:
        typeof hint === 'string'
          ? hint
          : hint({ server, tool, kind, ...(callerId !== undefined && { callerId }) }),
      data: { reason, ...(rule !== undefined && { rule }), ...(change !== undefined && { change }) },
    },
  );
}

/** The call has waited as long as its client would; the question has not. */
function stillOpen({ id, toolName, server, tool, reason, expiresAt }: ApprovalRequest): TurnbuckleError {
  return new TurnbuckleError(
    'APPROVAL_PENDING',
    `The call of "${toolName}" waits for a person to approve it (${reason}). It was not made yet.`,
    {
      server,
      tool,
      hint: `Approve it: turnbuckle approvals answer ${id} once. Then make the same call again: it goes on where it was.`,
      data: { reason, approval: id, expiresAt },
    },
  );
}

/** A map: who answered may be called anything. */
const WHY: ReadonlyMap<string, string> = new Map([
  ['expiry', ': nobody answered in time'],
  ['failure', ': asking for it failed'],
  ['closed', ': the runtime was closed'],
]);

function refused({ toolName, server, tool, reason }: Question, { by, cause }: Given): TurnbuckleError {
  if (by === 'cancelled')
    return new TurnbuckleError(
      'CALL_CANCELLED',
      `The call of "${toolName}" was cancelled while its approval was waited for.`,
      { server, tool },
    );
  return new TurnbuckleError(
    'CALL_DENIED',
    `The call of "${toolName}" was not approved${WHY.get(by) ?? ''}.`,
    {
      server,
      tool,
      cause,
      ...(by === 'expiry' && {
        hint: `It was asked about because ${reason}. Call again when somebody is there to answer, or allow it by a rule.`,
      }),
    },
  );
}

const closed = (question: Question): TurnbuckleError => refused(question, { answer: 'deny', by: 'closed' });
