/** Waits for a request to the steward, with a progress line on the terminal. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RequestStatus } from '@turnbuckle/steward';
import { type ErrorCode, TurnbuckleError } from 'turnbuckle';
import { ERRORS } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { showLine } from '../terminal/untrusted-text.js';
import { cancelCommand, statusCommand } from './request-lines.js';
import { kindWord } from './request-words.js';
import type { StewardRequests } from './steward-requests.js';

const POLL_MS = 250;
const OPEN: readonly string[] = ['queued', 'in_progress'];

export const hasEnded = ({ state }: RequestStatus): boolean => !OPEN.includes(state);

/** Until it has ended, or this is true. */
export async function followRequest(
  { output, signal }: CommandContext,
  { requests, id }: { readonly requests: Pick<StewardRequests, 'status'>; readonly id: string },
  isEnough: (status: RequestStatus) => boolean | Promise<boolean> = () => false,
): Promise<RequestStatus> {
  const first = await requests.status(id);
  const follow = async (): Promise<RequestStatus> => {
    for (let status = first; ; status = await requests.status(id)) {
      if (hasEnded(status) || (await isEnough(status))) return status;
      output.progress(`${Math.round(status.progress)}%  ${showLine(status.message, 200)}`);
      await delay(POLL_MS, undefined, { signal });
    }
  };
  return output.withSpinner(`Waiting for the "${kindWord(first.type)}" request`, follow());
}

/** Says after Ctrl-C that the request has not ended with the command. */
export async function untilLeft<T>(
  { output, signal }: CommandContext,
  id: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted)
      output.note(
        `The request continues in the background.\nCheck its status: ${statusCommand(id)}\nCancel it: ${cancelCommand(id)}`,
      );
    throw error;
  }
}

/** The error that a request ended with; undefined if it was completed. */
export function errorOf({ state, error, message }: RequestStatus): TurnbuckleError | undefined {
  if (state === 'failed' && error !== undefined) {
    const code: ErrorCode = Object.hasOwn(ERRORS, error.code) ? error.code : 'SERVER_ERROR';
    return new TurnbuckleError(code, error.message, { hint: error.hint });
  }
  if (state === 'completed') return undefined;
  return new TurnbuckleError('CALL_CANCELLED', message, {
    hint: "The request's changes were undone. Send the request again if you still need it.",
  });
}
