/** Reads the body of a request within its limit, as text or as JSON. */
import { isUtf8 } from 'node:buffer';
import { TurnbuckleError } from 'turnbuckle';
import { estimateJsonMemory, GrowingBuffer, parseLosslessInSlices } from 'turnbuckle/host';
import { isTokenEnded, requireActiveToken, tokenEnded } from '../identity/identity-end.js';
import type { RequestContext } from './request-context.js';

/**
 * The body exactly as sent. REQUEST_TOO_LARGE as soon as the size is known, REQUEST_INVALID if it is not UTF-8,
 * CALL_CANCELLED if the client disconnects before the end, TOKEN_REQUIRED if the token ends before, OVERLOADED if the
 * identity already uses too much memory.
 */
export async function readText(context: RequestContext): Promise<string> {
  const { usage, response } = context;
  const text = await receiveText(context);
  const weighed = estimateJsonMemory(text);
  const weight = typeof weighed === 'number' ? weighed : await weighed;
  if (response.destroyed) throw clientDisconnected();
  // From now on it counts for the memory it takes once it is parsed.
  if (!usage.reserve(weight - usage.bytes)) throw bodyMemoryExceeded();
  return text;
}

function receiveText({ request, response, maxBodyBytes, identity, usage }: RequestContext): Promise<string> {
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes)
    return Promise.reject(tooLarge(maxBodyBytes));
  if (request.headers.expect !== undefined) response.writeContinue();
  return new Promise((resolve, reject) => {
    const body = new GrowingBuffer();
    const take = (part: Buffer): void => {
      const isTooLarge = body.length + part.length > maxBodyBytes;
      if (!isTooLarge && usage.reserve(part.length)) return body.push(part);
      request.off('data', take);
      reject(isTooLarge ? tooLarge(maxBodyBytes) : bodyMemoryExceeded());
    };
    usage.onTokenEnded = () => reject(tokenEnded());
    request.on('data', take);
    request.once('end', () => {
      usage.onTokenEnded = undefined;
      if (isTokenEnded(identity)) return reject(tokenEnded());
      const whole = body.take();
      if (isUtf8(whole)) resolve(whole.toString('utf8'));
      else reject(invalid('The request body is not valid UTF-8.'));
    });
    request.once('close', () => {
      if (!request.complete) reject(clientDisconnected());
    });
  });
}

/** Parses the text of a body; REQUEST_INVALID if it is not JSON, TOKEN_REQUIRED if the token ended meanwhile. */
export async function parseBody({ identity }: RequestContext, text: string): Promise<unknown> {
  try {
    return await parseLosslessInSlices(text);
  } catch (cause) {
    if (cause instanceof TurnbuckleError) throw cause;
    throw invalid('The request body is not valid JSON.', cause);
  } finally {
    requireActiveToken(identity);
  }
}

function invalid(message: string, cause?: unknown): TurnbuckleError {
  return new TurnbuckleError('REQUEST_INVALID', message, { hint: 'Send JSON in UTF-8.', cause });
}

const clientDisconnected = (): TurnbuckleError =>
  new TurnbuckleError('CALL_CANCELLED', 'The client disconnected.');

const bodyMemoryExceeded = (): TurnbuckleError =>
  new TurnbuckleError(
    'OVERLOADED',
    'The memory limit for request bodies was reached, for this token or for the daemon.',
    {
      hint: 'Nothing was done. Send fewer requests at a time.',
      data: { retryAfterMs: 1_000 },
    },
  );

function tooLarge(maxBytes: number): TurnbuckleError {
  return new TurnbuckleError('REQUEST_TOO_LARGE', `The request body is larger than ${maxBytes} bytes.`, {
    hint: 'Send a smaller body.',
    data: { maxBytes },
  });
}
