/** Calls to tools run beside the loop, also those that wait for a person. Their results come back through the store. */
import type { Caller, Execution } from 'turnbuckle';
import { toThousandths } from 'turnbuckle/light';
import { cut, MAX_OUTPUT_CHARACTERS } from '../conversations/message.js';
import type { PlannedCall } from './interpret-step.js';
import type { LoopParts } from './loop-parts.js';

/** The tool whose result names a request to the steward. */
const REQUEST_TOOL = 'mcp_request_server_addition';
/** An approval ends by itself after the time that the daemon is configured with. */
const APPROVAL_WAIT_MS = 2 ** 31 - 1;
/** Of a result that is shortened before secrets are removed, which takes long. */
const MAX_RESULT_CHARACTERS = 4 * MAX_OUTPUT_CHARACTERS;
const STOP_MS = 2_000;

export class ToolCalls {
  readonly #parts: LoopParts;
  readonly #onChange: (conversation: string) => void;
  readonly #running = new Set<Promise<void>>();
  /** Calls that wait for approval, by their ids. */
  readonly #waiting = new Map<string, { readonly conversation: string; readonly cancel: () => void }>();
  readonly #stopping = new AbortController();
  readonly #stopListening: ReadonlyArray<() => void>;

  constructor(parts: LoopParts, onChange: (conversation: string) => void) {
    this.#parts = parts;
    this.#onChange = onChange;
    const answered = parts.runtime.on('approval.answered', ({ requestId }) =>
      this.#waiting.delete(requestId),
    );
    this.#stopListening = [this.#countEnergy(), answered];
  }

  get count(): number {
    return this.#running.size;
  }

  start(conversation: string, call: PlannedCall): void {
    const running = this.#run(conversation, call)
      .catch((error: unknown) => this.#failed(error))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Cancels what runs, and waits a moment for the results. What is left is settled at the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const timer = new Promise((resolve) => setTimeout(resolve, STOP_MS).unref());
    await Promise.race([Promise.all(this.#running), timer]);
    for (const stop of this.#stopListening) stop();
  }

  /** The conversation has ended. Calls that run already go on, since nobody would know whether they took effect. */
  cancelWaiting(conversation: string): void {
    for (const call of [...this.#waiting.values()]) if (call.conversation === conversation) call.cancel();
  }

  async #run(conversation: string, { id, tool, input }: PlannedCall): Promise<void> {
    const { store, runtime, config, clock } = this.#parts;
    const cancelling = new AbortController();
    const execution = await runtime
      .execute(tool, input, {
        requestId: id,
        caller: callerOf(config(), conversation),
        signal: AbortSignal.any([this.#stopping.signal, cancelling.signal]),
        approvalWaitMs: APPROVAL_WAIT_MS,
        onApproval: () => {
          this.#waiting.set(id, { conversation, cancel: () => cancelling.abort() });
          this.#waitForApproval(id, conversation).catch((error: unknown) => this.#failed(error));
        },
      })
      .finally(() => this.#waiting.delete(id));
    const requestId = tool === REQUEST_TOOL ? requestIdOf(execution.result) : undefined;
    if (requestId !== undefined) await store.run('linkRequest', requestId, conversation);
    const output = this.#outputOf(execution);
    await store.run('settleCall', { id, ok: execution.success, output, at: clock.now() });
    this.#onChange(conversation);
  }

  async #waitForApproval(id: string, conversation: string): Promise<void> {
    const { store } = this.#parts;
    await store.run('setCallState', id, 'approval');
    // It may have ended before the call asked.
    if ((await store.run('find', conversation))?.isEnded === true) this.cancelWaiting(conversation);
    this.#onChange(conversation);
  }

  /** Without secrets: it is stored, and sent to the model. */
  #outputOf({ success, result, error, failure }: Execution): string {
    const text = success ? toText(result) : failureText(error, failure?.code, failure?.hint);
    const redacted = this.#parts.runtime.redact(cut(text, MAX_RESULT_CHARACTERS));
    return cut(String(redacted), MAX_OUTPUT_CHARACTERS);
  }

  /** Also of calls that a tool makes itself. The store ignores those of other callers with the same name. */
  #countEnergy(): () => void {
    const { store, runtime, config, clock } = this.#parts;
    return runtime.on('call.settled', ({ callerId, run, requestId, energy }) => {
      if (callerId !== config().caller || run === undefined || energy === undefined) return;
      const ref = `call:${requestId}`;
      const row = { ref, source: 'call', thousandths: toThousandths(energy), at: clock.now() } as const;
      store
        .run('recordEnergy', [{ ...row, conversation: run }])
        .catch((error: unknown) => this.#failed(error));
    });
  }

  #failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#parts.publish('agent.failed', { code: 'INTERNAL', message });
  }
}

/** An ordinary agent: its calls have the same rules, budgets and approvals as those of every other one. */
export const callerOf = (
  { caller, capabilities }: { readonly caller: string; readonly capabilities: readonly string[] },
  conversation?: string,
): Caller => ({ id: caller, capabilities, ...(conversation !== undefined && { run: conversation }) });

function toText(result: unknown): string {
  if (typeof result === 'string') return result;
  return result === undefined ? 'The call succeeded without a result.' : JSON.stringify(result);
}

const failureText = (error: string | undefined, code: string | undefined, hint: string | undefined): string =>
  [`The call failed${code === undefined ? '' : ` (${code})`}: ${error ?? 'no details'}`, hint ?? '']
    .join(' ')
    .trim();

function requestIdOf(result: unknown): string | undefined {
  if (typeof result !== 'object' || result === null || !('requestId' in result)) return undefined;
  const { requestId } = result;
  return typeof requestId === 'string' && requestId.length <= 200 ? requestId : undefined;
}
