/** The OAuth client that mcp-remote is given on its command line, as JSON. */
import { isEntry } from '../formats/plain-value.js';
import type { OAuthDraft } from './imported-server.js';

interface StaticClientOptions {
  readonly info: string | undefined;
  readonly metadata: string | undefined;
  readonly host: string | undefined;
  readonly port: string | undefined;
}

/** Undefined without any; `unknown` for what is not fully understood, such as the name of a file. */
export function readStaticClient(options: StaticClientOptions): OAuthDraft | 'unknown' | undefined {
  const { info, metadata, host = 'localhost', port } = options;
  if (info === undefined && metadata === undefined) return undefined;
  const client = info === undefined ? {} : textsIn(info, ['client_id', 'client_secret']);
  const about = metadata === undefined ? {} : textsIn(metadata, ['scope']);
  if (client === undefined || about === undefined) return 'unknown';
  const { client_id: clientId, client_secret: clientSecret } = client;
  // A registered client has a registered redirect URI, whose port mcp-remote chooses unless it is told.
  if (info !== undefined && (clientId === undefined || port === undefined)) return 'unknown';
  if (host !== 'localhost' && host !== '127.0.0.1') return 'unknown';
  const scopes = about.scope?.split(/\s+/).filter((scope) => scope !== '') ?? [];
  return {
    type: 'oauth',
    ...(clientId === undefined ? {} : { clientId, redirectUri: `http://${host}:${port}/oauth/callback` }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(scopes.length === 0 ? {} : { scopes }),
  };
}

const MAX_LENGTH = 1_024;

/** A map of these keys only, each with a text. An escape could hide a placeholder, so there is none. */
function textsIn(json: string, keys: readonly string[]): Partial<Record<string, string>> | undefined {
  if (json.includes('\\')) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!isEntry(value)) return undefined;
  const pairs = Object.entries(value).filter((pair): pair is [string, string] => {
    const [key, text] = pair;
    return keys.includes(key) && typeof text === 'string' && text !== '' && text.length <= MAX_LENGTH;
  });
  return pairs.length === Object.keys(value).length ? Object.fromEntries(pairs) : undefined;
}
