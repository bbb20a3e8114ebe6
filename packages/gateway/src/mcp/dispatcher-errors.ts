/** Errors for items that do not exist or are hidden from the caller: one message for each kind, without server names. */
import { type Runtime, TurnbuckleError } from 'turnbuckle';
import { isRecord } from 'turnbuckle/host';
import { CODES, RpcError } from './protocol/protocol.js';

export const unknownPrompt = (name: string): TurnbuckleError =>
  new TurnbuckleError('PROMPT_UNKNOWN', `There is no prompt "${name}".`, {
    tool: name,
    hint: 'List the available prompts: prompts/list.',
  });

export const unknownResource = (uri: string): TurnbuckleError =>
  new TurnbuckleError('RESOURCE_UNKNOWN', `There is no resource "${uri}".`, {
    tool: uri,
    hint: 'List the available resources: resources/list.',
  });

/** Tasks and methods are authorized like tools, and rejected with the same code. */
const data = { code: 'TOOL_UNKNOWN' };

/** The same message for a task that never existed and for a task of another caller. */
export const unknownTask = (): RpcError => new RpcError(CODES.invalidParams, 'Task not found', { data });

export const unknownMethod = (method: string): RpcError =>
  new RpcError(CODES.unknownMethod, `Method not found: ${method}`, { data, http: 404 });

const UNKNOWN_CODES: ReadonlySet<string> = new Set(['TOOL_UNKNOWN', 'PROMPT_UNKNOWN', 'RESOURCE_UNKNOWN']);

/** Whether the error says that an item does not exist, or not for this caller. */
export const isUnknown = (thrown: unknown): boolean =>
  thrown instanceof TurnbuckleError && UNKNOWN_CODES.has(thrown.code);

/** Whether the error is a server's response to an unknown method. */
export const isUnknownMethod = (thrown: unknown): boolean => serverRpcCode(thrown) === CODES.unknownMethod;

/** The codes of the older revisions and of the newer one. */
const MISSING_RESOURCE_CODES: ReadonlySet<unknown> = new Set([-32002, CODES.invalidParams]);

/** Whether the error is a server's response to an unknown resource. */
export const isMissingResource = (thrown: unknown): boolean =>
  MISSING_RESOURCE_CODES.has(serverRpcCode(thrown));

/** The code of the error that a server responded with. */
const serverRpcCode = (thrown: unknown): unknown =>
  thrown instanceof TurnbuckleError && thrown.code === 'SERVER_ERROR' && isRecord(thrown.data?.rpc)
    ? thrown.data.rpc.code
    : undefined;

/** Errors created here quote the request, which may contain a secret; errors of the runtime are already redacted. */
export const redactRejection = <Result>(
  work: Promise<Result>,
  runtime: Pick<Runtime, 'redact'>,
): Promise<Result> =>
  work.catch((thrown) => {
    throw redactThrown(thrown, runtime);
  });

function redactThrown(thrown: unknown, runtime: Pick<Runtime, 'redact'>): unknown {
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
