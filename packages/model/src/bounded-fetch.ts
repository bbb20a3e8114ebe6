/** A fetch for model servers: responses above a limit are cut off, and redirects are not followed. */
import { TurnbuckleError } from 'turnbuckle';

/** A step has at most some ten thousand tokens. */
const MAX_RESPONSE_BYTES = 4 * 1_024 * 1_024;

export const createBoundedFetch =
  (maxBytes = MAX_RESPONSE_BYTES): typeof fetch =>
  async (input, init) => {
    // A redirect would send the key and the messages to an address that nobody configured.
    const response = await fetch(input, { ...init, redirect: 'error' });
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(limitBytes(maxBytes)), { status, statusText, headers });
  };

function limitBytes(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let left = maxBytes;
  return new TransformStream({
    transform: (part, controller) => {
      left -= part.byteLength;
      if (left >= 0) controller.enqueue(part);
      else
        controller.error(
          new TurnbuckleError(
            'RESPONSE_TOO_LARGE',
            `The model's response is larger than ${maxBytes} bytes.`,
            {
              hint: "Check that the model's baseUrl is the address of a model server.",
            },
          ),
        );
    },
  });
}
