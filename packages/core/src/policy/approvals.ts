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
  readonly hint?: string | undefined;
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly createId: () => string;
  readonly events: Events;
}

/** A question before it has an id and a time. */
export interface Question extends Omit<ApprovalRequest, 'id' | 'createdAt' | 'expiresAt'> {
  /** What an answer for the session holds for. */
  readonly memory: string;
  /** Whose share of the questions it takes; absent: that of the caller's name. */
  readonly identity?: string | undefined;
}

/** Who gave an answer, or what stood in for one. */
export type AnsweredBy = 'approver' | 'expiry' | 'cancelled' | 'closed' | 'failure' | (string & {});

interface Pending {
  readonly request: ApprovalRequest;
  readonly memory: string;
  readonly asker: string | undefined;
  readonly settle: (answer: Given) => void;
}

interface Given {
  readonly answer: ApprovalAnswer;
  readonly by: AnsweredBy;
  readonly cause?: unknown;
}

const ANSWERS: ReadonlySet<unknown> = new Set<ApprovalAnswer>(['once', 'session', 'always', 'deny']);
const MOST_PENDING = 1_000;
const MOST_PENDING_OF_CALLER = 100;
const MOST_REMEMBERED = 10_000;

export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #pending = new Map<string, Pending>();
  readonly #session = new Set<string>();
  #closed = false;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /** What waits for an answer now, the oldest first. */
  pending(): ApprovalRequest[] {
    return [...this.#pending.values()].map(({ request }) => request);
  }

  /** Answers a question; false when it does not wait any longer. `by` names who did, for the record. */
  answer(id: string, answer: ApprovalAnswer, by = 'answer()'): boolean {
    const pending = this.#pending.get(id);
    if (pending === undefined) return false;
    // An answer that is none of the words is no yes.
    pending.settle({ answer: ANSWERS.has(answer) ? answer : 'deny', by });
    return true;
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
      if (pending.memory === memory) pending.settle({ answer: 'session', by: 'an answer for the session' });
  }

  /** Resolves with a yes; rejects with APPROVAL_NEEDED, CALL_DENIED, CALL_CANCELLED or OVERLOADED. */
  async ask(question: Question, signal: CancelSignal | undefined): Promise<Exclude<ApprovalAnswer, 'deny'>> {
    const { approve, queue, events, now } = this.#options;
    if (this.#closed) throw closed(question);
    if (approve === undefined && !queue) throw nobodyThere(question, this.#options.hint);
    this.#assertRoom(question);
    const request = this.#toRequest(question);
    const started = now();
    const over = new AbortController();
    const waiting = this.#wait(request, question, signal);
    events.emit('approval.asked', request);
    if (approve !== undefined) this.#askApprover(approve, request, over.signal);
    const given = await waiting;
    over.abort();
    events.emit('approval.answered', {
      id: request.id,
      requestId: request.requestId,
      server: request.server,
      tool: request.tool,
      callerId: request.callerId,
      answer: given.answer,
      by: given.by,
      waitedMs: now() - started,
    });
    if (given.answer === 'deny') throw refused(question, given);
    // What was not offered was not agreed to.
    if (given.answer === 'always' && !request.answers.includes('always')) return 'session';
    return given.answer;
  }

  /** Nobody will answer any more: everything that waits is refused. */
  close(): void {
    this.#closed = true;
    for (const { settle } of [...this.#pending.values()]) settle({ answer: 'deny', by: 'closed' });
    this.#session.clear();
  }

  #toRequest({ memory: _memory, identity: _identity, ...question }: Question): ApprovalRequest {
    const { now, createId, timeoutMs } = this.#options;
    const time = now();
    return {
      id: createId(),
      ...question,
      createdAt: new Date(time).toISOString(),
      expiresAt: new Date(time + timeoutMs).toISOString(),
    };
  }

  #wait(request: ApprovalRequest, question: Question, signal: CancelSignal | undefined): Promise<Given> {
    return new Promise((resolve) => {
      const cancel = (): void => settle({ answer: 'deny', by: 'cancelled' });
      const timer = setTimeout(
        () => settle({ answer: 'deny', by: 'expiry' }),
        timerDelay(this.#options.timeoutMs),
      );
      const settle = (given: Given): void => {
        if (!this.#pending.delete(request.id)) return;
        clearTimeout(timer);
        offAbort(signal, cancel);
        resolve(given);
      };
      const { memory } = question;
      this.#pending.set(request.id, { request, memory, asker: askerOf(question), settle });
      onAbort(signal, cancel);
      if (signal?.aborted === true) cancel();
    });
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
    const ofCaller = [...this.#pending.values()].filter(({ asker }) => asker === own);
    if (this.#pending.size < MOST_PENDING && ofCaller.length < MOST_PENDING_OF_CALLER) return;
    throw new TurnbuckleError('OVERLOADED', 'Too many calls wait for an approval already.', {
      server,
      tool,
      hint: 'Answer those that wait, or let them expire.',
    });
  }
}

const askerOf = ({ identity, callerId }: Question): string | undefined => identity ?? callerId;

const HINT = 'Give the runtime an approve function, or allow the call by a rule.';

function nobodyThere(
  { toolName, server, tool, reason, change, rule }: Question,
  hint = HINT,
): TurnbuckleError {
  return new TurnbuckleError(
    'APPROVAL_NEEDED',
    `The call of "${toolName}" needs an approval (${reason}), and nobody is there to give one.`,
    {
      server,
      tool,
      hint,
      data: { reason, ...(rule !== undefined && { rule }), ...(change !== undefined && { change }) },
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
