/** The body of a request as JSON, within limits of size and time. */
import type { IncomingMessage } from 'node:http';
import { TurnbuckleError } from 'turnbuckle';

/** As text: whoever needs it exact has it exact. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) return Promise.reject(tooLarge(maxBytes));
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    request.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > maxBytes) {
        request.removeAllListeners('data');
        reject(tooLarge(maxBytes));
      } else parts.push(part);
    });
    request.once('end', () => {
      const [only] = parts;
      resolve((parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)).toString('utf8'));
    });
    request.once('error', reject);
    request.once('close', () => reject(new TurnbuckleError('CALL_CANCELLED', 'The client went away.')));
  });
}

export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TurnbuckleError('ARGUMENTS_INVALID', 'The body is not JSON.', {
      cause,
      hint: cause instanceof Error ? cause.message : undefined,
    });
  }
}

function tooLarge(maxBytes: number): TurnbuckleError {
  return new TurnbuckleError('REQUEST_TOO_LARGE', `The body has more than ${maxBytes} bytes.`, {
    hint: 'Send less at once, or raise the limit in the configuration of the daemon.',
  });
}
