import { TurnbuckleError } from '../errors.js';

/** What the guard did not like; `data.reason` of FETCH_REFUSED. */
export type RefusalReason =
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

export interface Refusal {
  readonly url: URL | undefined;
  readonly reason: RefusalReason;
  /** Ends the sentence "… was not fetched: ". */
  readonly because: string;
  readonly cause?: unknown;
}

const LONGEST_SHOWN = 300;

/** FETCH_REFUSED for an address, which is shown without credentials and query: those may hold secrets. */
export function refused({ url, reason, because, cause }: Refusal): TurnbuckleError {
  const shown = url === undefined ? undefined : presentable(url);
  return new TurnbuckleError('FETCH_REFUSED', `${shown ?? 'An address'} was not fetched: ${because}.`, {
    data: { url: shown, reason },
    hint:
      reason === 'address' || reason === 'scheme'
        ? 'If you trust this address, name it in your own configuration.'
        : undefined,
    cause,
  });
}

/** What may be shown of an address from outside: of a scheme other than http(s) only its name. */
function presentable(url: URL): string {
  const web = url.protocol === 'https:' || url.protocol === 'http:';
  const text = web ? `${url.protocol}//${url.host}${url.pathname}` : `${url.protocol}…`;
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}
