/** What a client is told of what is not there, or not for it: of every kind one sentence, which says nothing of servers. */
import { type Runtime, TurnbuckleError } from 'turnbuckle';
import { CODES, isRecord, RpcError } from './protocol.js';

export const unknownPrompt = (name: string): TurnbuckleError =>
  new TurnbuckleError('PROMPT_UNKNOWN', `There is no prompt "${name}".`, { tool: name });

export const unknownResource = (uri: string): TurnbuckleError =>
  new TurnbuckleError('RESOURCE_UNKNOWN', `There is no resource "${uri}".`, { tool: uri });

/** Tasks and methods are decided as tools are, and refused with the same code. */
const data = { code: 'TOOL_UNKNOWN' };

/** The same words for one that never was, and for one of somebody else. */
export const unknownTask = (): RpcError =>
  new RpcError(CODES.invalidParams, 'There is no such task', { data });

export const unknownMethod = (method: string): RpcError =>
  new RpcError(CODES.unknownMethod, `Method not found: ${method}`, { data, http: 404 });

const UNKNOWN: ReadonlySet<string> = new Set(['TOOL_UNKNOWN', 'PROMPT_UNKNOWN', 'RESOURCE_UNKNOWN']);

/** Whether it says that something is not there, or not for this caller. */
export const isUnknown = (thrown: unknown): boolean =>
  thrown instanceof TurnbuckleError && UNKNOWN.has(thrown.code);

/** Whether it is what a server says of a method that it does not have. */
export const isUnknownMethod = (thrown: unknown): boolean => codeOf(thrown) === CODES.unknownMethod;

/** By the codes of the older revisions and of the newer one. */
const MISSING: ReadonlySet<unknown> = new Set([-32002, CODES.invalidParams]);

/** Whether it is what a server says of a resource that it does not have. */
export const isMissingResource = (thrown: unknown): boolean => MISSING.has(codeOf(thrown));

/** Of the error that a server answered with. */
const codeOf = (thrown: unknown): unknown =>
  thrown instanceof TurnbuckleError && thrown.code === 'SERVER_ERROR' && isRecord(thrown.data?.rpc)
    ? thrown.data.rpc.code
    : undefined;

/** A subscription lasts, so nobody is asked about it. */
export const notSubscribed = (uri: string, action: 'ask' | 'deny', reason: string): TurnbuckleError =>
  action === 'deny'
    ? new TurnbuckleError('CALL_DENIED', `Subscribing to "${uri}" is not allowed: ${reason}.`, { tool: uri })
    : new TurnbuckleError('APPROVAL_NEEDED', `Subscribing to "${uri}" needs an approval (${reason}).`, {
        tool: uri,
        hint: 'Read the resource instead, which can be approved, or allow it by a rule.',
      });

/** What is refused here repeats what was asked for, a secret too; what the runtime refuses has none in it. */
export const cleanly = <Result>(work: Promise<Result>, runtime: Pick<Runtime, 'redact'>): Promise<Result> =>
  work.catch((thrown) => {
    throw withoutSecrets(thrown, runtime);
  });

function withoutSecrets(thrown: unknown, runtime: Pick<Runtime, 'redact'>): unknown {
  const redact = (text: string): string => String(runtime.redact(text));
  if (thrown instanceof RpcError) {
    const { code, data, http } = thrown;
    const message = redact(thrown.message);
    return message === thrown.message ? thrown : new RpcError(code, message, { data, http });
  }
  if (!(thrown instanceof TurnbuckleError)) return thrown;
  const { code, hint, server, tool, data, cause } = thrown;
  const clean = { message: redact(thrown.message), tool: tool && redact(tool) };
  if (clean.message === thrown.message && clean.tool === tool) return thrown;
  return new TurnbuckleError(code, clean.message, { hint, server, tool: clean.tool, data, cause });
}
