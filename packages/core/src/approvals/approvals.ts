/**
 * Asks a person for approval. The request is plain data, and a timeout counts as no. Session approvals are remembered
 * here; permanent ones are stored elsewhere.
 */
import { type CancelSignal, offAbort, onAbort } from '../async/cancel-signal.js';
import { timerDelay } from '../async/timer-delay.js';
import { TurnbuckleError } from '../errors.js';
import type { Events, GivenApproval } from '../events.js';
import type { ApprovalAnswer, ApprovalRequest, Approve } from './approval-request.js';
import { LateAnswers } from './late-answers.js';

export interface ApprovalsOptions {
  readonly approve: Approve | undefined;
  /** Without an approver, requests wait for `answer()` instead of failing. */
  readonly queue: boolean;
  /** The hint when no approver is available; the default is written for programs. */
  readonly hint?: ApprovalHint | undefined;
  readonly timeoutMs: number;
  /** For timestamps. */
  readonly now: () => number;
  /** For durations. */
  readonly monotonicNow: () => number;
  readonly createId: () => string;
  readonly events: Events;
}

/** A text, or a function that builds it from the call. */
export type ApprovalHint =
  | string
  | ((asked: Pick<ApprovalRequest, 'server' | 'tool' | 'kind' | 'callerId'>) => string);

/** A request before it has an id and timestamps. */
export interface ApprovalQuestion extends Omit<ApprovalRequest, 'id' | 'createdAt' | 'expiresAt'> {
  /** What a session approval covers. */
  readonly sessionKey: string;
  /** Whose quota of pending requests it uses; absent: the caller's name. */
  readonly identity?: string | undefined;
  /** Equal for a repetition of the same call; absent: never equal. */
  readonly key?: string | undefined;
  /** Stores an "always" that arrives after the call stopped waiting. Never rejects. */
  readonly saveAlways?: (() => Promise<void>) | undefined;
  /** Everything that is sent, if the request shows only a part. Redacted like that part. */
  readonly loadFull?: (() => Promise<FullCall>) | undefined;
}

export type FullCall = Pick<ApprovalRequest, 'arguments' | 'alsoSent'>;

/** How a call waits for its approval. */
export interface ApprovalWaitOptions {
  /** After this time the call ends with APPROVAL_PENDING and the request stays open; absent: no limit. */
  readonly maxWaitMs?: number | undefined;
  /** Called with the request as soon as it is open. */
  readonly onAsked?: ((request: ApprovalRequest) => void) | undefined;
  /** Called with the answer of this call, whenever it was given. */
  readonly onAnswered?: ((given: GivenApproval) => void) | undefined;
}

/** Who answered, or what ended the request without an answer. */
export type AnsweredBy = 'approver' | 'expiry' | 'cancelled' | 'closed' | 'failure' | (string & {});

interface PendingApproval {
  readonly request: ApprovalRequest;
  readonly question: ApprovalQuestion;
  readonly settle: (answer: GivenAnswer) => void;
  /** Aborts when the request is settled. */
  readonly settledSignal: AbortSignal;
  /** The call that waits for the answer; undefined once it has stopped waiting. */
  waiter: ((given: GivenAnswer) => void) | undefined;
}

interface GivenAnswer {
  readonly answer: ApprovalAnswer;
  readonly by: AnsweredBy;
  readonly cause?: unknown;
  /** Someone gave it; absent: the request ended without an answer. */
  readonly isReply?: boolean;
  /** No approver is available. */
  readonly isAbandoned?: boolean;
}

const ANSWERS: ReadonlySet<unknown> = new Set<ApprovalAnswer>(['once', 'session', 'always', 'deny']);
const MAX_PENDING = 1_000;
const MAX_PENDING_PER_CALLER = 100;
const MAX_REMEMBERED = 10_000;

export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #pending = new Map<string, PendingApproval>();
  readonly #sessionApprovals = new Set<string>();
  readonly #lateAnswers: LateAnswers;
  #closed = false;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
    this.#lateAnswers = new LateAnswers(options.monotonicNow);
  }

  /** The pending requests, oldest first. */
  pending(): ApprovalRequest[] {
    return [...this.#pending.values()].map(({ request }) => request);
  }

  /** A request with everything that is sent, untruncated; undefined if it is no longer pending. */
  async whole(id: string): Promise<ApprovalRequest | undefined> {
    const pending = this.#pending.get(id);
    if (pending?.request.isCut !== true || pending.question.loadFull === undefined) return pending?.request;
    const { isCut: _isCut, notShown: _notShown, ...request } = pending.request;
    return { ...request, ...(await pending.question.loadFull()) };
  }

  /** Answers a request; false if it is no longer pending. `by` names who answered, for the record. */
  answer(id: string, answer: ApprovalAnswer, by = 'answer()'): boolean {
    const pending = this.#pending.get(id);
    if (pending === undefined) return false;
    // An unknown answer counts as deny; an answer that was not offered is weakened to one that was.
    const given = ANSWERS.has(answer) ? toOfferedAnswer(answer, pending.request) : 'deny';
    pending.settle({ answer: given, by, isReply: true });
    return true;
  }

  /** Fails the call because no approver is available after all. False if the request is no longer pending. */
  abandon(id: string): boolean {
    const pending = this.#pending.get(id);
    pending?.settle({ answer: 'deny', by: 'nobody', isAbandoned: true });
    return pending !== undefined;
  }

  /** Whether this was approved for the session. */
  hasSessionApproval(memory: string): boolean {
    return this.#sessionApprovals.has(memory);
  }

  /** Approves for the rest of the session, including pending requests with the same key. */
  approveForSession(memory: string): void {
    const [oldest] = this.#sessionApprovals;
    if (this.#sessionApprovals.size >= MAX_REMEMBERED && oldest !== undefined)
      this.#sessionApprovals.delete(oldest);
    this.#sessionApprovals.add(memory);
    for (const pending of [...this.#pending.values()])
      if (pending.question.sessionKey === memory)
        pending.settle({ answer: 'session', by: 'session approval' });
  }

  /**
   * Resolves with the approval; rejects with APPROVAL_NEEDED, APPROVAL_PENDING, CALL_DENIED, CALL_CANCELLED or
   * OVERLOADED. A repetition of the same call resumes its open request, or uses the answer that arrived meanwhile.
   */
  async ask(
    question: ApprovalQuestion,
    signal: CancelSignal | undefined,
    options: ApprovalWaitOptions = {},
  ): Promise<Exclude<ApprovalAnswer, 'deny'>> {
    const { approve, queue } = this.#options;
    if (this.#closed) throw deniedByClose(question);
    if (approve === undefined && !queue) throw noApprover(question, this.#options.hint);
    const late = question.key === undefined ? undefined : this.#lateAnswers.take(question.key);
    const given: GivenAnswer = late ?? (await this.#request(question, signal, options));
    options.onAnswered?.(given);
    if (given.isAbandoned === true) throw noApprover(question, this.#options.hint);
    if (given.answer === 'deny') throw approvalDenied(question, given);
    return given.answer;
  }

  /** The answer to the open request of the same call, or to a new one; rejects if the call stops waiting. */
  async #request(
    question: ApprovalQuestion,
    signal: CancelSignal | undefined,
    { maxWaitMs, onAsked }: ApprovalWaitOptions,
  ): Promise<GivenAnswer> {
    const left = this.#findDetached(question.key);
    const pending = left ?? this.#open(question);
    // Start waiting before anyone is notified: the answer may come immediately.
    const waiting = this.#wait(pending, signal, maxWaitMs);
    if (left === undefined) this.#announce(pending);
    if (this.#pending.has(pending.request.id)) onAsked?.(pending.request);
    const given = await waiting;
    if (given === undefined) throw approvalPending(pending.request);
    // An answer that was not offered has no effect.
    return { ...given, answer: toOfferedAnswer(given.answer, pending.request) };
  }

  /** Denies all pending requests. */
  close(): void {
    this.#closed = true;
    for (const { settle } of [...this.#pending.values()]) settle({ answer: 'deny', by: 'closed' });
    this.#sessionApprovals.clear();
    this.#lateAnswers.clear();
  }

  #toRequest(asked: ApprovalQuestion): ApprovalRequest {
    const {
      sessionKey: _memory,
      identity: _identity,
      key: _key,
      saveAlways: _keep,
      loadFull: _whole,
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

  /** An open request that no call waits for: two calls never share one. */
  #findDetached(key: string | undefined): PendingApproval | undefined {
    if (key === undefined) return undefined;
    for (const pending of this.#pending.values())
      if (pending.question.key === key && pending.waiter === undefined) return pending;
    return undefined;
  }

  /** Opens a request until it is answered or expires. */
  #open(question: ApprovalQuestion): PendingApproval {
    this.#assertCapacity(question);
    const { events, monotonicNow, timeoutMs } = this.#options;
    const request = this.#toRequest(question);
    const started = monotonicNow();
    const over = new AbortController();
    const timer = setTimeout(() => settle({ answer: 'deny', by: 'expiry' }), timerDelay(timeoutMs));
    const settle = (given: GivenAnswer): void => {
      if (!this.#pending.delete(request.id)) return;
      clearTimeout(timer);
      over.abort();
      const { id, requestId, server, tool, callerId } = request;
      const { answer, by } = given;
      const waitedMs = monotonicNow() - started;
      events.emit('approval.answered', { id, requestId, server, tool, callerId, answer, by, waitedMs });
      if (pending.waiter === undefined) this.#storeLateAnswer(pending, given);
      else pending.waiter(given);
    };
    const pending: PendingApproval = {
      request,
      question,
      settle,
      settledSignal: over.signal,
      waiter: undefined,
    };
    this.#pending.set(request.id, pending);
    return pending;
  }

  #announce({ request, settledSignal }: PendingApproval): void {
    const { approve, events } = this.#options;
    events.emit('approval.asked', request);
    if (approve !== undefined) this.#askApprover(approve, request, settledSignal);
  }

  /** The answer; undefined if it did not come in time. A cancelled call withdraws its request. */
  #wait(
    pending: PendingApproval,
    signal: CancelSignal | undefined,
    patienceMs: number | undefined,
  ): Promise<GivenAnswer | undefined> {
    return new Promise((resolve) => {
      const cancel = (): void => pending.settle({ answer: 'deny', by: 'cancelled' });
      const leave = (given: GivenAnswer | undefined): void => {
        clearTimeout(timer);
        offAbort(signal, cancel);
        pending.waiter = undefined;
        resolve(given);
      };
      const timer =
        patienceMs === undefined ? undefined : setTimeout(() => leave(undefined), timerDelay(patienceMs));
      pending.waiter = leave;
      onAbort(signal, cancel);
    });
  }

  /** Keeps an answer that no call waits for, for a repetition of the same call. */
  #storeLateAnswer(
    { request, question: { key, sessionKey, saveAlways } }: PendingApproval,
    { answer, by, isReply }: GivenAnswer,
  ): void {
    const given = toOfferedAnswer(answer, request);
    if (given === 'once' || given === 'deny') {
      // Nobody has said no to a request that expired: the repetition asks again.
      if (key !== undefined && isReply === true) this.#lateAnswers.keep(key, { answer: given, by });
      return;
    }
    this.approveForSession(sessionKey);
    if (given === 'always') void saveAlways?.();
  }

  #askApprover(approve: Approve, request: ApprovalRequest, signal: AbortSignal): void {
    const settle = (given: GivenAnswer): void => this.#pending.get(request.id)?.settle(given);
    // Wrapped so that an approver that throws synchronously is handled like one that rejects.
    void (async () => approve(request, signal))().then(
      (answer) => this.answer(request.id, answer, 'approver'),
      (cause: unknown) => settle({ answer: 'deny', by: 'failure', cause }),
    );
  }

  #assertCapacity(question: ApprovalQuestion): void {
    const { server, tool } = question;
    const own = quotaKeyOf(question);
    const ofCaller = [...this.#pending.values()].filter(({ question: other }) => quotaKeyOf(other) === own);
    if (this.#pending.size < MAX_PENDING && ofCaller.length < MAX_PENDING_PER_CALLER) return;
    throw new TurnbuckleError('OVERLOADED', 'Too many calls are already waiting for approval.', {
      server,
      tool,
      hint: 'Approve or deny pending calls (turnbuckle approvals), or wait until their approvals expire.',
    });
  }
}

/** The answer, or the next weaker one that was offered. */
function toOfferedAnswer<Answer extends ApprovalAnswer>(
  answer: Answer,
  { answers }: ApprovalRequest,
): Answer | 'session' | 'once' {
  if ((answer !== 'always' && answer !== 'session') || answers.includes(answer)) return answer;
  return answers.includes('session') ? 'session' : 'once';
}

const quotaKeyOf = ({ identity, callerId }: ApprovalQuestion): string | undefined => identity ?? callerId;

const DEFAULT_HINT = 'Pass an approve function to the runtime, or add a rule that allows the call.';

function noApprover(
  { toolName, server, tool, kind, callerId, reason, change, rule }: ApprovalQuestion,
  hint: ApprovalHint = DEFAULT_HINT,
): TurnbuckleError {
  return new TurnbuckleError(
    'APPROVAL_NEEDED',
    `Call to "${toolName}" requires approval (${reason}), but no approver is available.`,
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

/** The call stopped waiting; the request is still open. */
function approvalPending({
  id,
  toolName,
  server,
  tool,
  callerId,
  reason,
  expiresAt,
}: ApprovalRequest): TurnbuckleError {
  // The host is the person who can approve it.
  const ask = callerId === undefined ? 'Approve it' : 'Ask the user to approve it';
  return new TurnbuckleError(
    'APPROVAL_PENDING',
    `Call to "${toolName}" is waiting for approval (${reason}). It has not been sent.`,
    {
      server,
      tool,
      hint: `${ask}, then repeat the same call. To approve it: turnbuckle approvals answer ${id} once`,
      data: { reason, approval: id, expiresAt },
    },
  );
}

/** A map, because `by` can be any string. */
const DENIAL_REASONS: ReadonlyMap<string, string> = new Map([
  ['expiry', ' because the approval request expired'],
  ['failure', ' because the approval request failed'],
  ['closed', ' because the runtime was closed'],
]);

function approvalDenied(
  { toolName, server, tool, reason }: ApprovalQuestion,
  { by, cause }: GivenAnswer,
): TurnbuckleError {
  if (by === 'cancelled')
    return new TurnbuckleError(
      'CALL_CANCELLED',
      `Call to "${toolName}" was cancelled while waiting for approval.`,
      { server, tool },
    );
  return new TurnbuckleError(
    'CALL_DENIED',
    `Call to "${toolName}" was not approved${DENIAL_REASONS.get(by) ?? ''}.`,
    {
      server,
      tool,
      cause,
      ...(by === 'expiry' && {
        hint: `Approval was required because ${reason}. Repeat the call when someone can approve it, or add a rule that allows it.`,
      }),
    },
  );
}

const deniedByClose = (question: ApprovalQuestion): TurnbuckleError =>
  approvalDenied(question, { answer: 'deny', by: 'closed' });
