/** What a caller asks for: the options of a call, their check, and what of them goes to the server. */
import type { CancelSignal } from './cancel-signal.js';
import type { ToolIdentity } from './catalog/names.js';
import type { Progress } from './connection/lane.js';
import type { Respondent } from './connection/respondents.js';
import { TurnbuckleError } from './errors.js';
import type { AskedApproval, CallKind } from './events.js';
import { keepSpelling } from './json/spelling.js';
import type { Permit } from './permit.js';
import type { Caller } from './policy/capabilities.js';

export interface CallOptions {
  /** Names the call in events and records; made up when absent. */
  readonly requestId?: string | undefined;
  /** Who asks. Absent: the host itself. */
  readonly caller?: Caller | undefined;
  readonly signal?: CancelSignal | undefined;
  /** Longest silence, of the server and of each wait before it; progress starts it anew. */
  readonly timeoutMs?: number | undefined;
  /** Longest duration in all, from the first word to the answer; only a person's approval does not count. */
  readonly maxTotalMs?: number | undefined;
  /** After so long without an answer to its approval it ends with APPROVAL_PENDING; the question stays open. */
  readonly approvalWaitMs?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** A person is asked whether the call may be made; it waits. */
  readonly onApproval?: ((asked: AskedApproval) => void) | undefined;
  /** A person said yes to the call: to this, and to nothing else. */
  readonly onPermit?: ((permit: Permit) => void) | undefined;
  /** Told which tool of which server its name stood for: afterwards the same name may stand for another. */
  readonly onFound?: ((found: ToolIdentity) => void) | undefined;
  /** Further params of the request, passed as they are. */
  readonly more?: Readonly<Record<string, unknown>> | undefined;
  /** Extra `_meta` for the server. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** A server that asks back is answered by the runtime's handlers, or the question is the result. */
  readonly inputRequired?: 'answer' | 'return' | undefined;
  /** Answers to an earlier question, with the state that came with it. */
  readonly inputResponses?: Readonly<Record<string, unknown>> | undefined;
  readonly requestState?: unknown;
  /** Who is asked and told what belongs to this call. Absent: the runtime's handlers. */
  readonly respondent?: Respondent | undefined;
}

/** How long somebody waits for what is no call. */
export type WaitLimits = Pick<CallOptions, 'timeoutMs' | 'maxTotalMs' | 'signal'>;

export interface CallRequest extends CallOptions {
  /** The name an agent sees; or, with `server`, the tool's name there. */
  readonly tool: string;
  readonly server?: string | undefined;
  /** Nothing has this name on the way that the caller came: refused and recorded, whatever has it elsewhere. */
  readonly isUnlisted?: boolean | undefined;
  /** It goes on from what this tool answered: where its name stands for another by now, it fails like one that nobody has. */
  readonly onlyFor?: ToolIdentity | undefined;
  /** Absent: by `tool`, and by `server` where that is given. */
  readonly calledAs?: CalledAs | undefined;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

/** How the caller called a tool, where the way that it came has names of its own: nothing else is told of one that it may not know. */
export interface CalledAs {
  readonly name: string;
  /** What else the caller may call there, by the same kind of name. */
  readonly others: () => readonly string[];
}

/** A resource to read, a prompt to get, or any other request: the same path without a schema. */
export interface ReadRequest extends CallOptions {
  readonly kind: CallKind;
  readonly server: string;
  readonly method: string;
  readonly item: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** What the params come to: rules about arguments hold for it, too. It is not sent. */
  readonly implied?: Readonly<Record<string, unknown>> | undefined;
  /** It is about a task that a call of the tool `item` began: decided like that call. */
  readonly task?: TaskFacts | undefined;
}

export interface TaskFacts {
  /** What a person said yes to when the call was asked about: that holds for its task too, and for no other reason. */
  readonly permit?: Permit | undefined;
  /** It changes nothing, and may be sent again. */
  readonly isSafe: boolean;
}

/** Throws REQUEST_INVALID for options that are none: what a typo would make of a time limit is no limit. */
export function checkOptions(options: CallOptions): void {
  const { requestId, timeoutMs, maxTotalMs, approvalWaitMs, onProgress, signal, caller } = options;
  checkMs('timeoutMs', timeoutMs);
  checkMs('maxTotalMs', maxTotalMs);
  checkMs('approvalWaitMs', approvalWaitMs);
  if (requestId !== undefined && typeof requestId !== 'string')
    throw invalid('requestId', 'a text', requestId);
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw invalid('onProgress', 'a function', onProgress);
  if (signal !== undefined && typeof signal?.addEventListener !== 'function')
    throw invalid('signal', 'an AbortSignal', signal);
  if (caller !== undefined && (typeof caller?.id !== 'string' || !Array.isArray(caller.capabilities)))
    throw invalid('caller', '{ id, capabilities }', caller);
}

/** Characters of a name or an address: they are looked up, told and kept, and searched for secrets on the way. */
export const MAX_NAME = 8_192;
/** Of one that is longer, so much is told. */
const TOLD_OF_NAME = 200;

/** As it is told and recorded. */
export const toldName = (name: string): string =>
  typeof name === 'string' && name.length > MAX_NAME ? `${name.slice(0, TOLD_OF_NAME)}…` : name;

/** Throws REQUEST_INVALID for a name that is too long to be one. */
export function checkName(what: string, name: string | undefined): void {
  if (typeof name !== 'string' || name.length <= MAX_NAME) return;
  const message = `${what} has ${name.length} characters. It can have ${MAX_NAME} at most.`;
  throw new TurnbuckleError('REQUEST_INVALID', message, { hint: 'Nothing was sent. Shorten it.' });
}

function checkMs(name: string, value: unknown): void {
  if (value === undefined || (typeof value === 'number' && value > 0)) return;
  throw invalid(name, 'a number of milliseconds above 0', value);
}

function invalid(name: string, expected: string, found: unknown): TurnbuckleError {
  const shown =
    typeof found === 'number' ? String(found) : found === null ? 'null' : `a value of type ${typeof found}`;
  return new TurnbuckleError(
    'REQUEST_INVALID',
    `The option ${name} of a call is ${expected}, not ${shown}.`,
    {
      hint: 'Nothing was sent. Correct the option, or leave it out.',
    },
  );
}

/** What goes to the server beside the arguments. */
export type Beside = readonly [
  more: CallOptions['more'],
  meta: CallOptions['meta'],
  inputResponses: CallOptions['inputResponses'],
  requestState: unknown,
  /** Where the caller has said it: it could be anything. */
  method: string | undefined,
];

/** Undefined, nearly always, when there is nothing. */
export function besideOf(
  { more, meta, inputResponses, requestState }: CallOptions,
  method?: string,
): Beside | undefined {
  const isNothing =
    more === undefined && meta === undefined && inputResponses === undefined && requestState === undefined;
  return isNothing && method === undefined ? undefined : [more, meta, inputResponses, requestState, method];
}

/** The method of what is passed on as it came. All others are the protocol's own. */
export const methodSaid = ({ kind, task, method }: ReadRequest): string | undefined =>
  kind === 'tool' && task === undefined ? method : undefined;

/** Without the state: its server has given it, whatever it looks like. */
export const ownWords = ([more, meta, inputResponses, , method]: readonly unknown[]): readonly unknown[] => [
  more,
  meta,
  inputResponses,
  method,
];

export function withMeta(
  params: Readonly<Record<string, unknown>>,
  options: CallOptions,
): Readonly<Record<string, unknown>> {
  if (besideOf(options) === undefined) return params;
  const { more, meta, inputResponses, requestState } = options;
  return keepSpelling(more ?? params, {
    ...more,
    ...params,
    ...(meta !== undefined && { _meta: meta }),
    ...(inputResponses !== undefined && { inputResponses }),
    ...(requestState !== undefined && { requestState }),
  });
}
