/** Where records come from: the registries and copies that are configured. Nothing else is fetched. */

import { TurnbuckleError } from 'turnbuckle';
import { type GuardedFetchOptions, showLine } from 'turnbuckle/host';

/**
 * A registry or a copy of one. The URL of a copy ends in `.json`; any other URL is the base of the registry's API, with
 * or without `/v0.1`.
 */
export type RegistrySource = { readonly url: string } | { readonly file: string };

const MEBIBYTE = 1024 * 1024;
const MAX_BODY_BYTES = 32 * MEBIBYTE;
const TIMEOUT_MS = 30_000;

/**
 * Options of a guarded fetch that reaches the sources and nothing else. They may be internal, since they are configured.
 * Throws CONFIG_INVALID.
 */
export function registryFetchOptions(sources: readonly RegistrySource[]): GuardedFetchOptions {
  const urls = sources.flatMap((source) => ('url' in source ? [sourceUrl(source.url)] : []));
  const origins = [...new Set(urls.map(({ origin }) => origin))];
  return { origins, allowedOrigins: origins, maxBytes: MAX_BODY_BYTES, timeoutMs: TIMEOUT_MS };
}

/** The parsed URL of a source. Throws CONFIG_INVALID. */
export function sourceUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isUsable =
    (url?.protocol === 'https:' || url?.protocol === 'http:') && url.username === '' && url.password === '';
  if (url !== undefined && isUsable) return url;
  throw new TurnbuckleError('CONFIG_INVALID', `"${showLine(text)}" is not a valid registry URL.`, {
    hint: 'Use an http or https URL without a user name, such as https://registry.example.',
  });
}

export const isCopy = ({ pathname }: URL): boolean => pathname.toLowerCase().endsWith('.json');

/** The address of the list of servers, of a base URL with or without the version of the API. */
export function apiUrl(base: URL): URL {
  const path = base.pathname.replace(/\/+$/, '').replace(/\/v0(?:\.1)?(?:\/servers)?$/, '');
  return new URL(`${path}/v0.1/servers`, base.origin);
}
