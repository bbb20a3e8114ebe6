import { TurnbuckleError } from '../errors.js';

/** Why a fetch was rejected; `data.reason` of FETCH_REFUSED. */
export type FetchRefusalReason =
  | 'url'
  | 'scheme'
  | 'credentials'
  | 'method'
  | 'origin'
  | 'address'
  | 'redirect'
  | 'size'
  | 'time'
  | 'content-type'
  | 'encoding';

export interface FetchRefusal {
  readonly url: URL | undefined;
  readonly reason: FetchRefusalReason;
  /** Completes the sentence "… was not fetched because ". */
  readonly because: string;
  /** What to do next; absent: by the reason. */
  readonly hint?: string;
  readonly cause?: unknown;
}

const MAX_DISPLAY_LENGTH = 300;
const TRUST_HINT = 'If you trust this address, add it to your own configuration.';
const HINTS: Partial<Record<FetchRefusalReason, string>> = { address: TRUST_HINT, scheme: TRUST_HINT };

/** FETCH_REFUSED for an address, which is shown without credentials and query, because those may contain secrets. */
export function fetchRefused({ url, reason, because, hint, cause }: FetchRefusal): TurnbuckleError {
  const shown = url === undefined ? undefined : displayUrl(url);
  return new TurnbuckleError(
    'FETCH_REFUSED',
    `${shown ?? 'An address'} was not fetched because ${because}.`,
    {
      data: { url: shown, reason },
      hint: hint ?? HINTS[reason],
      cause,
    },
  );
}

/** The part of an untrusted address that may be shown: for schemes other than http(s), only the scheme. */
function displayUrl(url: URL): string {
  const web = url.protocol === 'https:' || url.protocol === 'http:';
  const text = web ? `${url.protocol}//${url.host}${url.pathname}` : `${url.protocol}…`;
  return text.length > MAX_DISPLAY_LENGTH ? `${text.slice(0, MAX_DISPLAY_LENGTH)}…` : text;
}
