/**
 * Placeholders in a server's configuration: `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${input:id}`,
 * `${secret:name}`, `${workspaceFolder}`, `${userHome}`. Filled in only when connecting, so that files, hashes and
 * output keep the placeholder. `$${` is a literal `${`.
 */
import { TurnbuckleError } from '../../errors.js';
import { isRecord } from '../../json/is-record.js';
import { MalformedPlaceholder, type Placeholder, splitPlaceholders } from '../../text/placeholders.js';
import { shellQuote } from '../../text/shell-quote.js';

export interface Placeholders {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly input?: ((id: string) => Promise<string | undefined>) | undefined;
  readonly secret?: ((name: string) => Promise<string | undefined>) | undefined;
  /** Called with each value that is filled in, and its name as written: `secret:db`, `TOKEN`. */
  readonly onValue?: ((name: string, value: string) => void) | undefined;
  readonly workspaceFolder: string;
  readonly userHome: string;
}

/** A process that serves others: it does not have the environment of its callers, and cannot prompt. */
export type Service = 'daemon' | 'bridge';

export interface PlaceholderOwner {
  readonly server: string;
  readonly file?: string | undefined;
  readonly service?: Service | undefined;
}

/** The value with every placeholder filled in; VARIABLE_MISSING names the first one without a value. */
export async function interpolate<T>(value: T, source: Placeholders, owner: PlaceholderOwner): Promise<T> {
  const fill = async (node: unknown, path: string): Promise<unknown> => {
    if (typeof node === 'string')
      return node.includes('${') ? fillText(node, source, { ...owner, path }) : node;
    if (Array.isArray(node)) return Promise.all(node.map((item, index) => fill(item, `${path}[${index}]`)));
    // In-process objects (servers, functions) are not data.
    if (!isRecord(node) || Object.getPrototypeOf(node) !== Object.prototype) return node;
    const entries = Object.entries(node).map(async ([key, item]) => [
      key,
      await fill(item, path === '' ? key : `${path}.${key}`),
    ]);
    return Object.fromEntries(await Promise.all(entries));
  };
  return (await fill(value, '')) as T;
}

interface PlaceholderLocation extends PlaceholderOwner {
  readonly path: string;
}

async function fillText(text: string, source: Placeholders, spot: PlaceholderLocation): Promise<string> {
  const pieces = splitPlaceholders(text);
  if (pieces instanceof MalformedPlaceholder) throw malformed(pieces.beginning, spot);
  const filled = pieces.map((piece) => (typeof piece === 'string' ? piece : lookUp(piece, source, spot)));
  return (await Promise.all(filled)).join('');
}

async function lookUp(
  { name, fallback }: Placeholder,
  source: Placeholders,
  spot: PlaceholderLocation,
): Promise<string> {
  const value = await findValue(name, source, spot);
  if (value !== undefined) source.onValue?.(name, value);
  if (value !== undefined && value !== '') return value;
  if (fallback !== undefined) return fillText(fallback, source, spot);
  // An empty variable counts as set: only a default replaces it.
  if (value === '') return '';
  throw missing(name, spot);
}

async function findValue(
  name: string,
  source: Placeholders,
  spot: PlaceholderLocation,
): Promise<string | undefined> {
  if (name === 'workspaceFolder') return source.workspaceFolder;
  if (name === 'userHome') return source.userHome;
  const [kind, rest] = name.includes(':')
    ? [name.slice(0, name.indexOf(':')), name.slice(name.indexOf(':') + 1)]
    : ['env', name];
  if (kind === 'input') return source.input?.(rest);
  if (kind === 'secret')
    return source.secret?.(rest).catch((error: unknown) => Promise.reject(withLocation(error, spot)));
  // Not inherited members, such as `constructor`.
  return Object.hasOwn(source.environment, rest) ? source.environment[rest] : undefined;
}

type Hint = (name: string) => string;

const HINTS: Readonly<Record<string, Hint>> = {
  env: (name) => `Set ${name}, or write \${${name}:-default}.`,
  input: (id) =>
    `Run the command in a terminal to enter the value, or set TURNBUCKLE_INPUT_${toVariableName(id)}.`,
  secret: (name) =>
    `Set TURNBUCKLE_SECRET_${toVariableName(name)}, configure a secretCommand, or run: turnbuckle secrets set ${shellQuote(name)}`,
};

const DAEMON_HINTS: Readonly<Record<string, Hint>> = {
  env: (name) =>
    `Set ${name} and restart the daemon (turnbuckle serve restart), or bypass the daemon with --no-daemon.`,
  input: (id) =>
    `Set TURNBUCKLE_INPUT_${toVariableName(id)} and restart the daemon (turnbuckle serve restart), or bypass the daemon with --no-daemon and enter the value.`,
  secret: (name) =>
    `Set TURNBUCKLE_SECRET_${toVariableName(name)} and restart the daemon (turnbuckle serve restart), or run: turnbuckle secrets set ${shellQuote(name)}`,
};

const BRIDGE_HINTS: Readonly<Record<string, Hint>> = {
  env: (name) => `Stop the bridge, set ${name}, and start the bridge again.`,
  input: (id) => `Stop the bridge, set TURNBUCKLE_INPUT_${toVariableName(id)}, and start the bridge again.`,
  secret: (name) =>
    `Stop the bridge, set TURNBUCKLE_SECRET_${toVariableName(name)}, and start the bridge again, or run: turnbuckle secrets set ${shellQuote(name)}`,
};

const SERVICE_HINTS = { daemon: DAEMON_HINTS, bridge: BRIDGE_HINTS };

/** The environment variable for an input or a secret. */
export function toVariableName(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
}

function missing(name: string, { server, file, path, service }: PlaceholderLocation): TurnbuckleError {
  const kind = name.includes(':') ? name.slice(0, name.indexOf(':')) : 'env';
  const plain = name.slice(name.indexOf(':') + 1);
  const what = kind === 'env' ? `environment variable ${plain}` : `the ${kind} "${plain}"`;
  const whom = service === undefined ? '' : ` for the ${service}`;
  const hints = service === undefined ? HINTS : SERVICE_HINTS[service];
  return new TurnbuckleError(
    'VARIABLE_MISSING',
    `Server "${server}" requires ${what}, which is not set${whom} (${formatLocation(path, file)}).`,
    {
      server,
      hint: (Object.hasOwn(hints, kind) ? hints[kind] : hints.env)?.(plain),
      data: { variable: plain, kind, path, file },
    },
  );
}

/** The error of a source, with the location of the placeholder. */
function withLocation(error: unknown, { server, file, path }: PlaceholderLocation): unknown {
  if (!(error instanceof TurnbuckleError)) return error;
  const { code, message, hint, cause, data } = error;
  const text = `Cannot fill in a placeholder for server "${server}" (${formatLocation(path, file)}): ${message}`;
  return new TurnbuckleError(code, text, { server, hint, cause, data: { ...data, path, file } });
}

export const PLACEHOLDER_HINT =
  'Write ${VAR}, ${VAR:-default}, ${env:VAR}, ${input:id} or ${secret:name}; $${ is a literal ${.';

function malformed(beginning: string, { server, file, path }: PlaceholderLocation): TurnbuckleError {
  return new TurnbuckleError(
    'CONFIG_INVALID',
    `Invalid placeholder for server "${server}": ${beginning} (${formatLocation(path, file)}).`,
    {
      server,
      hint: PLACEHOLDER_HINT,
      data: { path, file },
    },
  );
}

const formatLocation = (path: string, file: string | undefined): string =>
  file === undefined ? path : `${path} in ${file}`;
