/** What an address answered cannot be used: it is no daemon, or not one that this command understands. */
import { type ErrorCode, TurnbuckleError } from 'turnbuckle';

/** More than any list of a daemon. */
export const MAX_RESPONSE_BYTES = 64 * 1_024 * 1_024;

/** `what` follows the URL in the sentence. */
export function unusableResponse(
  url: string,
  what: string,
  { code = 'PROTOCOL_VIOLATION', cause }: { code?: ErrorCode; cause?: unknown } = {},
): TurnbuckleError {
  const { origin } = new URL(url);
  return new TurnbuckleError(code, `${origin} ${what}.`, {
    cause,
    hint: 'Check that a Turnbuckle daemon of the same version is running at this URL. To use another URL, set MCP_BRIDGE_URL. To run without a daemon, use --no-daemon.',
  });
}

export const responseTooLarge = (url: string): TurnbuckleError =>
  unusableResponse(url, `sent more than ${MAX_RESPONSE_BYTES} bytes and was disconnected`, {
    code: 'RESPONSE_TOO_LARGE',
  });

/**
 * What went wrong while something was made of its answers. Each field is not looked at before it is used: where one is
 * not what a daemon sends, the use of it fails with one of these.
 */
export const isUnexpectedShape = (error: unknown): error is Error =>
  error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
