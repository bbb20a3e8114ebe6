/** Limits a fetch to a list of origins: a registry that is configured must not lead anywhere else. */
import { fetchRefused } from './fetch-refused.js';

/** Throws FETCH_REFUSED for a URL of another origin. */
export type OriginRule = (url: URL) => void;

const MAX_SHOWN_ORIGINS = 5;
const MAX_SHOWN_LENGTH = 300;

/**
 * Compares scheme, host and port as a URL parser writes them; absent: every origin is allowed. Throws TypeError for an
 * origin that is not an http(s) URL.
 */
export function createOriginRule(origins: readonly string[] | undefined): OriginRule {
  if (origins === undefined) return () => {};
  const allowed = new Set(origins.map(originOf));
  return (url) => {
    if (allowed.has(url.origin) || !isWeb(url)) return;
    const shown = url.origin.slice(0, MAX_SHOWN_LENGTH);
    throw fetchRefused({
      url,
      reason: 'origin',
      because: `its origin ${shown} is not one of the configured origins`,
      hint: `${describe([...allowed])} If you trust ${shown}, add it to your own configuration.`,
    });
  };
}

/** The origin of any other scheme is "null", which must not match; the check of the scheme rejects those. */
const isWeb = ({ protocol }: URL): boolean => protocol === 'https:' || protocol === 'http:';

function originOf(text: string): string {
  const url = new URL(text);
  if (!isWeb(url)) throw new TypeError(`${url.protocol} is not the scheme of an origin that can be allowed.`);
  return url.origin;
}

function describe(allowed: readonly string[]): string {
  if (allowed.length === 0) return 'No origin is configured.';
  const more = allowed.length > MAX_SHOWN_ORIGINS ? ' and others' : '';
  return `Configured: ${allowed.slice(0, MAX_SHOWN_ORIGINS).join(', ')}${more}.`;
}
