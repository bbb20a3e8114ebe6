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
  const abort = new AbortController();
  const onAbort = (): void => abort.abort(options.signal?.reason);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<'deny'>((resolve) => {
    timer = setTimeout(() => resolve('deny'), options.timeoutMs);
    abort.signal.addEventListener('abort', () => resolve('deny'), { once: true });
  });
  try {
    const expiresAt = new Date(Date.now() + options.timeoutMs);
    const answer = await Promise.race([options.approve({ ...request, expiresAt }, abort.signal), silence]);
    if (answer === 'allow') return;
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', onAbort);
    abort.abort();
  }
  throw new TurnbuckleError('CALL_DENIED', `The call of "${toolName}" was not approved.`, { server, tool });
}
