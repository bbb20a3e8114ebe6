/** The wrappers we know: from their command line to the remote server behind them. */

import type { LaunchedProgram } from '../launched-program.js';
import { type ParsedFlags, parseFlags } from '../parse-flags.js';
import type { OAuthDraft, ServerDraft } from './imported-server.js';
import { mergeLiterals, patternStyle, printExactly, type Segment, TURNBUCKLE_STYLE } from './placeholders.js';
import { readStaticClient } from './static-client.js';

type Env = Readonly<Record<string, string>>;

interface Remote {
  readonly type: 'http' | 'sse';
  readonly url: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly excludeTools?: readonly string[];
  readonly auth?: OAuthDraft;
  /** Variables that the wrapper read itself. */
  readonly usedVariables: readonly string[];
}

type Reader = (args: readonly string[], env: Env) => Remote | undefined;

/** By the name of the program, without its version. */
export const WRAPPERS: ReadonlyMap<string, Reader> = new Map([
  ['mcp-remote', readMcpRemote],
  ['mcp-proxy', readMcpProxy],
  ['supergateway', readSupergateway],
]);

/** Variables that only tune a wrapper. */
const IGNORED_VARIABLES = new Set(['MCP_REMOTE_CONFIG_DIR', 'DEBUG', 'LOG_LEVEL', 'NO_COLOR']);

/** The remote server behind a wrapper; undefined when anything about it is unsure. */
export function unwrapRemote(
  program: LaunchedProgram,
  env: Env,
): { config: ServerDraft; notes: string[] } | undefined {
  const remote = WRAPPERS.get(program.name)?.(program.args, env);
  if (remote === undefined || !isRemoteAddress(remote.url)) return undefined;
  const filled = fillFromEnv(remote.headers, env);
  if (filled === undefined) return undefined;
  const used = new Set([...remote.usedVariables, ...filled.used]);
  // A proxy or certificate setting would be lost with the process.
  if (Object.keys(env).some((name) => !used.has(name) && !IGNORED_VARIABLES.has(name))) return undefined;
  const moved =
    filled.used.length === 0 ? '' : `; the server's headers now contain ${filled.used.join(', ')}`;
  return {
    config: {
      type: remote.type,
      url: remote.url,
      ...(filled.headers.size === 0 ? {} : { headers: Object.fromEntries(filled.headers) }),
      ...(remote.excludeTools === undefined ? {} : { excludeTools: remote.excludeTools }),
      ...(remote.auth === undefined ? {} : { auth: remote.auth }),
    },
    notes: [`${program.name} is removed because Turnbuckle connects to the server directly${moved}`],
  };
}

function readMcpRemote(args: readonly string[]): Remote | undefined {
  const flags = parseFlags(args, {
    known: {
      '--header': 1,
      '--transport': 1,
      '--allow-http': 0,
      '--debug': 0,
      '--silent': 0,
      '--host': 1,
      '--ignore-tool': 1,
      '--auth-timeout': 1,
      '--static-oauth-client-info': 1,
      '--static-oauth-client-metadata': 1,
    },
  });
  const [url, port, ...more] = flags?.positional ?? [];
  if (flags === undefined || url === undefined || more.length > 0) return undefined;
  if (port !== undefined && !/^\d+$/.test(port)) return undefined;
  const transport = lastValue(flags, '--transport') ?? 'http-first';
  if (!['http-first', 'http-only', 'sse-first', 'sse-only'].includes(transport)) return undefined;
  if (!flags.has('--allow-http') && isPlaintextRemote(url)) return undefined;
  const headers = headersFrom(flags.all('--header').map(([text = '']) => text));
  const ignored = flags.all('--ignore-tool').map(([name = '']) => name);
  if (headers === undefined || ignored.some((name) => /[*?]/.test(name))) return undefined;
  const auth = readStaticClient({
    info: lastValue(flags, '--static-oauth-client-info'),
    metadata: lastValue(flags, '--static-oauth-client-metadata'),
    host: lastValue(flags, '--host'),
    port,
  });
  const isSignedIn = [...headers.keys()].some((name) => name.toLowerCase() === 'authorization');
  if (auth === 'unknown' || (auth !== undefined && isSignedIn)) return undefined;
  return {
    type: transport.startsWith('sse') ? 'sse' : 'http',
    url,
    headers,
    ...(ignored.length === 0 ? {} : { excludeTools: ignored }),
    ...(auth === undefined ? {} : { auth }),
    usedVariables: [],
  };
}

/** Only its first mode, in which it is given an address; else it is a server around a command. */
function readMcpProxy(args: readonly string[], env: Env): Remote | undefined {
  const flags = parseFlags(args, {
    known: { '-H': 2, '--headers': 2, '--transport': 1, '--debug': 0, '--log-level': 1 },
  });
  const [url, ...more] = flags?.positional ?? [];
  if (flags === undefined || url === undefined || more.length > 0) return undefined;
  const transport = lastValue(flags, '--transport') ?? 'sse';
  if (!['sse', 'streamablehttp'].includes(transport)) return undefined;
  const pairs = [...flags.all('-H'), ...flags.all('--headers')];
  const headers = new Map(pairs.map(([name = '', value = '']) => [name, value]));
  const token = Object.hasOwn(env, 'API_ACCESS_TOKEN') ? env.API_ACCESS_TOKEN : undefined;
  if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
  return {
    type: transport === 'sse' ? 'sse' : 'http',
    url,
    headers,
    usedVariables: token === undefined ? [] : ['API_ACCESS_TOKEN'],
  };
}

function readSupergateway(args: readonly string[]): Remote | undefined {
  const flags = parseFlags(args, {
    known: {
      '--sse': 1,
      '--streamableHttp': 1,
      '--header': 1,
      '--oauth2Bearer': 1,
      '--logLevel': 1,
      '--outputTransport': 1,
    },
  });
  if (flags === undefined || flags.positional.length > 0) return undefined;
  if ((lastValue(flags, '--outputTransport') ?? 'stdio') !== 'stdio') return undefined;
  const sse = lastValue(flags, '--sse');
  const http = lastValue(flags, '--streamableHttp');
  const headers = headersFrom(flags.all('--header').map(([text = '']) => text));
  if ((sse === undefined) === (http === undefined) || headers === undefined) return undefined;
  const bearer = lastValue(flags, '--oauth2Bearer');
  if (bearer !== undefined) headers.set('Authorization', `Bearer ${bearer}`);
  return { type: sse === undefined ? 'http' : 'sse', url: http ?? sse ?? '', headers, usedVariables: [] };
}

const lastValue = (flags: ParsedFlags, name: string): string | undefined => flags.all(name).at(-1)?.[0];

function headersFrom(texts: readonly string[]): Map<string, string> | undefined {
  const headers = new Map<string, string>();
  for (const text of texts) {
    const colon = text.indexOf(':');
    const name = text.slice(0, Math.max(colon, 0)).trim();
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return undefined;
    headers.set(name, text.slice(colon + 1).trim());
  }
  return headers;
}

/** What the wrapper takes for a placeholder. */
const wrapperStyle = patternStyle(
  /\$\{([A-Za-z_]\w*)\}/g,
  ([, name = '']) => ({ kind: 'env', name }),
  () => undefined,
);

/**
 * The wrapper fills `${NAME}` from its own variables, whether or not the client leaves such texts alone. Undefined if
 * our spelling cannot say what comes of it.
 */
function fillFromEnv(
  headers: ReadonlyMap<string, string>,
  env: Env,
): { headers: Map<string, string>; used: string[] } | undefined {
  const used: string[] = [];
  const fill = (segment: Segment): Segment[] => {
    if (segment.kind !== 'env' || segment.fallback !== undefined) return [segment];
    const given = Object.hasOwn(env, segment.name) ? env[segment.name] : undefined;
    if (given === undefined) return [segment];
    used.push(segment.name);
    return TURNBUCKLE_STYLE.parse(given);
  };
  const filled = new Map<string, string>();
  for (const [header, value] of headers) {
    const segments = mergeLiterals(TURNBUCKLE_STYLE.parse(value)).flatMap((segment) =>
      segment.kind === 'literal' ? wrapperStyle.parse(segment.text) : [segment],
    );
    const text = printExactly(segments.flatMap(fill));
    if (text === undefined) return undefined;
    filled.set(header, text);
  }
  return { headers: filled, used };
}

const isRemoteAddress = (url: string): boolean =>
  /^\$\{[^}]+\}/.test(url) || (/^https?:\/\//i.test(url) && URL.canParse(url));

/** Plain text over a network: the wrapper itself would refuse it. */
function isPlaintextRemote(url: string): boolean {
  if (!/^http:/i.test(url) || !URL.canParse(url)) return false;
  return !['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname);
}
