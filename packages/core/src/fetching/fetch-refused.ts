import { TurnbuckleError } from '../errors.js';

/** Why a fetch was rejected; `data.reason` of FETCH_REFUSED. */
export type FetchRefusalReason =
  | 'url'
  | 'scheme'
  | 'credentials'
  | 'method'
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
  readonly cause?: unknown;
}

const MAX_DISPLAY_LENGTH = 300;

/** FETCH_REFUSED for an address, which is shown without credentials and query, because those may contain secrets. */
export function fetchRefused({ url, reason, because, cause }: FetchRefusal): TurnbuckleError {
  const shown = url === undefined ? undefined : displayUrl(url);
  return new TurnbuckleError(
    'FETCH_REFUSED',
    `${shown ?? 'An address'} was not fetched because ${because}.`,
    {
      data: { url: shown, reason },
      hint:
        reason === 'address' || reason === 'scheme'
          ? 'If you trust this address, add it to your own configuration.'
          : undefined,
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
