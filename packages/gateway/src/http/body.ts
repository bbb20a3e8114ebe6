/** The body of a request: read within its limit, as text or as JSON that fits a schema. */
import { isUtf8 } from 'node:buffer';
import { GrowingBuffer, keepSpellingOfCopy, parseInSlices, TurnbuckleError, weighJson } from 'turnbuckle';
import { describeIssue, shortKey } from 'turnbuckle/issue-text';
import * as z from 'zod/mini';
import type { Visit } from './visit.js';
import { isOver, requireGood, tokenGone } from './visitor-end.js';

const MAX_FAULTS = 10;

/**
 * The body exactly as sent. REQUEST_TOO_LARGE as soon as that is known, REQUEST_INVALID when it is not UTF-8,
 * CALL_CANCELLED when the client goes away before its end, TOKEN_REQUIRED when its token does, OVERLOADED when its
 * identity has too much in memory already.
 */
export async function readText(visit: Visit): Promise<string> {
  const { place, response } = visit;
  const text = await receiveText(visit);
  const weighed = weighJson(text);
  const weight = typeof weighed === 'number' ? weighed : await weighed;
  if (response.destroyed) throw clientGone();
  // From now on it counts for what it takes once it is read.
  if (!place.hold(weight - place.bytes)) throw tooMuch();
  return text;
}

function receiveText({ request, response, maxBodyBytes, visitor, place }: Visit): Promise<string> {
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes)
    return Promise.reject(tooLarge(maxBodyBytes));
  if (request.headers.expect !== undefined) response.writeContinue();
  return new Promise((resolve, reject) => {
    const body = new GrowingBuffer();
    const take = (part: Buffer): void => {
      const isTooLarge = body.length + part.length > maxBodyBytes;
      if (!isTooLarge && place.hold(part.length)) return body.push(part);
      request.off('data', take);
      reject(isTooLarge ? tooLarge(maxBodyBytes) : tooMuch());
    };
    place.onEnded = () => reject(tokenGone());
    request.on('data', take);
    request.once('end', () => {
      place.onEnded = undefined;
      if (isOver(visitor)) return reject(tokenGone());
      const whole = body.take();
      if (isUtf8(whole)) resolve(whole.toString('utf8'));
      else reject(invalid('The body is not UTF-8.'));
    });
    request.once('close', () => {
      if (!request.complete) reject(clientGone());
    });
  });
}

/** The body as JSON that fits the schema; REQUEST_INVALID when it is no JSON, ARGUMENTS_INVALID with each key that is wrong. */
export async function readJson<T>(visit: Visit, schema: z.ZodMiniType<T>): Promise<T> {
  const sent = await parseText(visit, await readText(visit));
  const checked = z.safeParse(schema, sent, { error: describeIssue });
  // The validator copies what it checks: the copies are to be written as what they were made of.
  if (checked.success) return keepSpellingOfCopy(sent, checked.data);
  const faults = checked.error.issues
    .slice(0, MAX_FAULTS)
    .map(({ path, message }) => ({ path: pathText(path), message }));
  const list = faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
  throw new TurnbuckleError('ARGUMENTS_INVALID', `The body of the request does not fit: ${list}.`, {
    hint: 'Nothing was done. Correct the named keys.',
    data: { faults },
  });
}

/** The text of a body as JSON; REQUEST_INVALID when it is none, TOKEN_REQUIRED when its token ended while it was read. */
export async function parseText({ visitor }: Visit, text: string): Promise<unknown> {
  try {
    return await parseInSlices(text);
  } catch (cause) {
    if (cause instanceof TurnbuckleError) throw cause;
    throw invalid('The body is not JSON.', cause);
  } finally {
    requireGood(visitor);
  }
}

/** `servers[0].name`, as the errors of calls write it. */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    const name = shortKey(String(key));
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

function invalid(message: string, cause?: unknown): TurnbuckleError {
  return new TurnbuckleError('REQUEST_INVALID', message, { hint: 'Send JSON in UTF-8.', cause });
}

const clientGone = (): TurnbuckleError => new TurnbuckleError('CALL_CANCELLED', 'The client went away.');

const tooMuch = (): TurnbuckleError =>
  new TurnbuckleError('OVERLOADED', 'Too many bodies of requests are in memory, of this token or in all.', {
    hint: 'Nothing was done. Send fewer of them at once.',
    data: { retryAfterMs: 1_000 },
  });

function tooLarge(maxBytes: number): TurnbuckleError {
  return new TurnbuckleError('REQUEST_TOO_LARGE', `The body has more than ${maxBytes} bytes.`, {
    hint: 'Send less at once, or raise the limit in the configuration of the daemon.',
    data: { maxBytes },
  });
}
