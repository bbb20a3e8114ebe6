/** Asking a person: the request as data, the answer by a function of the host, silence is no. */
import { TurnbuckleError } from '../errors.js';

export interface ApprovalRequest {
  readonly server: string;
  readonly tool: string;
  readonly toolName: string;
  readonly callerId: string | undefined;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly annotations: Readonly<Record<string, unknown>> | undefined;
  readonly reason: string;
  readonly expiresAt: Date;
}

export type Approve = (
  request: ApprovalRequest,
  signal: AbortSignal,
) => Promise<'allow' | 'deny'> | 'allow' | 'deny';

export interface ApproveOptions {
  readonly approve: Approve | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Resolves when the call is approved; rejects with APPROVAL_NEEDED or CALL_DENIED otherwise. */
export async function approve(
  request: Omit<ApprovalRequest, 'expiresAt'>,
  options: ApproveOptions,
): Promise<void> {
  const { server, tool, toolName } = request;
  if (options.approve === undefined) {
    throw new TurnbuckleError(
      'APPROVAL_NEEDED',
      `The call of "${toolName}" needs an approval, and nobody is there to give one.`,
      {
        server,
        tool,
        hint: 'Give createRuntime an approve function, or set defaultDecision.',
      },
    );
  }
  const answer = await ask(request, options.approve, options);
  if (answer === 'allow') return;
  const cancelled = answer === 'cancelled';
  throw new TurnbuckleError(
    cancelled ? 'CALL_CANCELLED' : 'CALL_DENIED',
    `The call of "${toolName}" was ${cancelled ? 'cancelled while its approval was waited for' : 'not approved'}.`,
    { server, tool },
  );
}

/** The host's answer; silence is no, and so is an approver that fails. */
async function ask(
  request: Omit<ApprovalRequest, 'expiresAt'>,
  approver: Approve,
  { timeoutMs, signal }: ApproveOptions,
): Promise<'allow' | 'deny' | 'cancelled'> {
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const silence = new Promise<'deny' | 'cancelled'>((resolve) => {
    timer = setTimeout(() => resolve('deny'), timeoutMs);
    onAbort = () => resolve('cancelled');
    signal?.addEventListener('abort', onAbort, { once: true });
  });
  try {
    const expiresAt = new Date(Date.now() + timeoutMs);
    return await Promise.race([approver({ ...request, expiresAt }, over.signal), silence]);
  } catch (cause) {
    const { server, tool, toolName } = request;
    throw new TurnbuckleError(
      'CALL_DENIED',
      `The call of "${toolName}" was not approved: asking for it failed.`,
      {
        server,
        tool,
        cause,
      },
    );
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort);
    over.abort();
  }
}
