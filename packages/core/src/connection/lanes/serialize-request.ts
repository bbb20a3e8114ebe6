/** Serializes a request before anything waits for its response. */
import { TurnbuckleError } from '../../errors.js';
import { isTextDeeperThan } from '../../json/depth.js';
import { hasRawNumbers, writeJson } from '../../json/lossless-json.js';
import { completeParams, type Envelope, type LaneRequest } from './lane.js';

type Written = Pick<LaneRequest, 'method' | 'params' | 'onProgress'>;

/**
 * The JSON-RPC message. Throws ARGUMENTS_INVALID for anything but JSON: a BigInt, a cycle, a getter that throws, too
 * many levels.
 */
export function serializeRequest(
  server: string,
  request: Written,
  { id, envelope }: { readonly id: number; readonly envelope: Envelope | undefined },
): string {
  let params: string;
  try {
    params = writeParams(request, envelope, id);
  } catch (cause) {
    throw notJsonError(server, cause);
  }
  const text = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(request.method)},"params":${params}}`;
  return checkDepth(server, text);
}

/** Throws ARGUMENTS_INVALID if the params of a request cannot be sent. */
export function assertSerializable(server: string, params: object): void {
  let text: string;
  try {
    text = writeJson(params);
  } catch (cause) {
    throw notJsonError(server, cause);
  }
  checkDepth(server, text);
}

/** `_meta` is the same for most requests: it is appended to the text, which is faster than a copy of the params. */
function writeParams(request: Written, envelope: Envelope | undefined, id: number): string {
  const { params, onProgress } = request;
  if ((envelope === undefined && onProgress === undefined) || !canAppendMeta(params))
    return writeJson(completeParams(request, envelope, id));
  const own = JSON.stringify(params);
  const meta = envelope === undefined ? '{' : envelopeText(envelope);
  const token = onProgress === undefined ? '' : `${envelope === undefined ? '' : ','}"progressToken":${id}`;
  return `${own === '{}' ? '{' : `${own.slice(0, -1)},`}"_meta":${meta}${token}}}`;
}

/** Not with a `_meta` of its own, or a text of its own: that of raw numbers, or of a `toJSON`. */
const canAppendMeta = (params: LaneRequest['params']): boolean =>
  params._meta === undefined && !('toJSON' in params) && !hasRawNumbers(params);

const envelopeTexts = new WeakMap<Envelope, string>();

/** Without the closing brace. */
function envelopeText(envelope: Envelope): string {
  const known = envelopeTexts.get(envelope);
  if (known !== undefined) return known;
  const text = JSON.stringify(envelope).slice(0, -1);
  envelopeTexts.set(envelope, text);
  return text;
}

function checkDepth(server: string, text: string): string {
  if (isTextDeeperThan(text)) throw notJsonError(server, new Error('the request is nested too deeply'));
  return text;
}

function notJsonError(server: string, cause: unknown): TurnbuckleError {
  const why = cause instanceof Error ? cause.message : 'serialization failed';
  return new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `The request to server "${server}" cannot be serialized as JSON: ${why.split('\n', 1)[0]}.`,
    {
      server,
      cause,
      hint: 'Nothing was sent. Use plain data only: objects, arrays, strings, numbers, booleans and null.',
    },
  );
}
