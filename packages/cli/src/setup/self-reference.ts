/**
 * Whether a server that stands in another tool's file is this program: what setup wrote there, or somebody by hand.
 * Told by what an entry points at, never by its name. Taken over, the daemon would be a server of itself.
 */
import { readFileSync, realpathSync } from 'node:fs';
import { hostname, networkInterfaces } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { DEFAULT_PORT } from '@turnbuckle/gateway';
import type { LoadedConfig } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import type { ServerDraft } from '../imports/index.js';
import { splitShellWords } from '../session/command-runtime.js';
import { stateDirectoryOf } from '../session/state-directory.js';
import { ownFile } from '../terminal/own-command.js';

type Entry = Pick<ServerDraft, 'command' | 'args' | 'cwd' | 'url' | 'headers'>;

/** The reason as text; undefined when the entry points elsewhere. */
export type SelfReferenceCheck = (entry: Entry) => string | undefined;

/** `config` says where a daemon would listen; the record of the last one says where it did. */
export function createSelfReferenceCheck(
  context: CommandContext,
  { settings }: LoadedConfig,
): SelfReferenceCheck {
  const { host = '127.0.0.1', port } = settings.daemon ?? {};
  const configured = port === undefined ? '' : `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const known = [recordedUrl(stateDirectoryOf(context)), configured].flatMap(endpointOf);
  const ownHosts = localHosts();
  /** `beside`: what is sent along. */
  const isOurs = (word: string, beside: readonly string[]): boolean => {
    const at = endpointOf(word)[0];
    if (at === undefined) return false;
    if (known.some((one) => one.port === at.port && sameHost(one.host, at.host, ownHosts))) return true;
    if (!ownHosts.has(at.host)) return false;
    if (at.port === String(DEFAULT_PORT) && /^\/mcp(\/|$)/.test(at.path)) return true;
    // A daemon that ran at another port, and left no record: its tokens tell.
    return beside.some((value) => /\bBearer\s+tbk_/i.test(value));
  };
  return ({ command, args = [], cwd, url, headers }) => {
    if (url !== undefined)
      return isOurs(url, Object.values(headers ?? {})) ? "its URL is Turnbuckle's own URL" : undefined;
    const words = [command ?? '', ...args];
    if (startsTurnbuckle(words, cwd)) return 'its command starts Turnbuckle itself';
    // What carries stdio to an address, with options that are not known here.
    return words.some((word) => isOurs(word, words))
      ? "its command contains Turnbuckle's own URL"
      : undefined;
  };
}

interface Endpoint {
  readonly host: string;
  readonly port: string;
  readonly path: string;
}

/** None or one. Default ports are spelled out. */
function endpointOf(text: string): Endpoint[] {
  if (!/^(https?|wss?):\/\//i.test(text) || !URL.canParse(text)) return [];
  const { hostname: host, port, protocol, pathname: path } = new URL(text);
  return [{ host, port: port || (/^(https|wss):$/.test(protocol) ? '443' : '80'), path }];
}

const sameHost = (one: string, other: string, own: ReadonlySet<string>): boolean =>
  one === other || (own.has(one) && own.has(other));

/** As the URL parser spells them. */
function localHosts(): ReadonlySet<string> {
  const addresses = Object.values(networkInterfaces()).flatMap((list = []) =>
    list.map(({ address }) => address),
  );
  const names = [
    'localhost',
    'localhost.',
    hostname(),
    '127.0.0.1',
    '0.0.0.0',
    '::',
    '::1',
    '::ffff:127.0.0.1',
  ];
  const spelled = [...names, ...addresses].flatMap((name) => {
    const url = `http://${name.includes(':') ? `[${name}]` : name}/`;
    return URL.canParse(url) ? [new URL(url).hostname] : [];
  });
  return new Set(spelled);
}

/** Also of a daemon that does not run now: setup wrote its address all the same. */
function recordedUrl(stateDir: string): string {
  try {
    const { url } = JSON.parse(readFileSync(join(stateDir, 'daemon.json'), 'utf8'));
    return typeof url === 'string' ? url : '';
  } catch {
    return '';
  }
}

/** `serve … --stdio` of this program, behind whatever shell, runtime or package runner. */
function startsTurnbuckle(line: readonly string[], cwd: string | undefined): boolean {
  const words = line.flatMap((word) => (/\s/.test(word) ? splitShellWords(word) : [word]));
  const at = words.indexOf('serve');
  if (at === -1 || !words.includes('--stdio', at)) return false;
  return words.slice(0, at).some((word) => isTurnbuckleProgram(word, cwd));
}

const TURNBUCKLE_FILE = /(^|[\\/])(@turnbuckle[\\/]cli|packages[\\/]cli)[\\/]dist[\\/]bin\.js$/;

function isTurnbuckleProgram(word: string, cwd = '.'): boolean {
  const last = word.split(/[\\/]/).at(-1) ?? word;
  if (/^(turnbuckle|tbk)(\.(exe|cmd|bat|ps1))?(@.*)?$/i.test(last)) return true;
  if (/(^|=)@turnbuckle\/cli(@.*)?$/.test(word) || TURNBUCKLE_FILE.test(word)) return true;
  return /[\\/]|\.[cm]?js$/.test(word) && isTurnbuckleBinary(resolve(cwd, word));
}

/** A link to it, or a copy of its package under another name. */
function isTurnbuckleBinary(path: string): boolean {
  try {
    const file = realpathSync(path);
    if (file === ownFile() || TURNBUCKLE_FILE.test(file)) return true;
    return (
      JSON.parse(readFileSync(join(dirname(file), '..', 'package.json'), 'utf8')).name === '@turnbuckle/cli'
    );
  } catch {
    return false;
  }
}
