/** What an address answered cannot be used: it is no daemon, or not one that this command understands. */
import { type ErrorCode, TurnbuckleError } from 'turnbuckle';

/** More than any list of a daemon. */
export const MAX_ANSWER_BYTES = 64 * 1_024 * 1_024;

/** `what` goes on from "The address … ". */
export function unusable(
  url: string,
  what: string,
  { code = 'PROTOCOL_VIOLATION', cause }: { code?: ErrorCode; cause?: unknown } = {},
): TurnbuckleError {
  const { origin } = new URL(url);
  return new TurnbuckleError(code, `The address ${origin} ${what}.`, {
    cause,
    hint: 'See whether a Turnbuckle daemon of this release is there: MCP_BRIDGE_URL names another address, --no-daemon does without.',
  });
}

export const tooLong = (url: string): TurnbuckleError =>
  unusable(url, `answers with more than ${MAX_ANSWER_BYTES} bytes, and was not listened to any further`, {
    code: 'RESPONSE_TOO_LARGE',
  });

/**
 * What went wrong while something was made of its answers. Each field is not looked at before it is used: where one is
 * not what a daemon sends, the use of it fails with one of these.
 */
export const isMisread = (error: unknown): error is Error =>
  error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
