/**
 * The vault's key in the keychain of the operating system. The keychain is accessed from a child process: its library
 * is synchronous, and a keychain that does not respond would block this process forever.
 */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { childStreams } from '../files/child-streams.js';
import { isRecord } from '../json/is-record.js';
import { formatKeys, type KeyLocation, parseKeys } from './key-location.js';
import { secretsUnavailable } from './vault-errors.js';

export interface KeychainOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Identifies the vault among those of this user. */
  readonly account: string;
  readonly file: string;
  /** Timeout for one request. */
  readonly timeoutMs: number;
}

const SERVICE = 'turnbuckle';

/** The variables that a process needs to find the user's session; none of them can be a secret. */
const SESSION_VARIABLES =
  /^(PATH|HOME|USER|LOGNAME|LANG|DISPLAY|XAUTHORITY|WAYLAND_DISPLAY|XDG_\w+|DBUS_\w+|TEMP|TMP|APPDATA|LOCALAPPDATA|USERPROFILE|SYSTEMROOT|WINDIR|COMSPEC)$/i;

/**
 * Handles one request and one response, as JSON. Inlined as text so that it works in a bundle too. On Linux it uses
 * only the Secret Service: the kernel's keyring does not survive a reboot.
 */
const KEYCHAIN_SCRIPT = `
const [, module, service, account] = process.argv;
const answer = (value) => require('node:fs').writeSync(1, JSON.stringify(value));
let input = '';
process.stdin.on('data', (part) => (input += part)).on('end', () => {
  try {
    const { Entry } = require(module);
    const entry = new Entry(service, account, { linux: { store: 'secret-service' } });
    const { action, value } = JSON.parse(input);
    if (action === 'set') entry.setPassword(value);
    else if (action === 'delete') entry.deletePassword();
    answer({ ok: true, value: entry.getPassword() });
  } catch (error) {
    answer({ ok: false, reason: String(error?.message) });
  }
});`;

/** Throws SECRETS_UNAVAILABLE if the keychain does not respond, for any reason. */
export function keychain(options: KeychainOptions): KeyLocation {
  return {
    async read() {
      const value = await requestKeychain(options, { action: 'get' });
      const keys = parseKeys(value ?? '');
      if (keys === undefined) throw keychainUnavailable(options.file, 'the stored value is not a key');
      return keys;
    },
    async write(keys) {
      const value = formatKeys(keys);
      const kept = await requestKeychain(
        options,
        keys.length > 0 ? { action: 'set', value } : { action: 'delete' },
      );
      if ((kept ?? '') !== value)
        throw keychainUnavailable(options.file, 'the keychain did not store the key');
    },
  };
}

type KeychainRequest =
  | { readonly action: 'get' | 'delete' }
  | { readonly action: 'set'; readonly value: string };

async function requestKeychain(
  options: KeychainOptions,
  question: KeychainRequest,
): Promise<string | undefined> {
  const { file, environment, account, timeoutMs } = options;
  const module = findKeychainModule();
  if (module === undefined) throw keychainUnavailable(file, 'the package @napi-rs/keyring is not installed');
  const session = Object.entries(environment).filter(([name]) => SESSION_VARIABLES.test(name));
  const child = spawn(process.execPath, ['-e', KEYCHAIN_SCRIPT, module, SERVICE, account], {
    env: { ...Object.fromEntries(session), ELECTRON_RUN_AS_NODE: '1' },
    stdio: ['pipe', 'pipe', 'ignore'],
    windowsHide: true,
  });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    child.kill('SIGKILL');
  }, timeoutMs);
  const { stdin, stdout } = childStreams(child);
  const failed = new Promise<string>((resolve) => child.once('error', () => resolve('')));
  stdin?.on('error', () => {}).end(JSON.stringify(question));
  const printed = await Promise.race([stdout === undefined ? '' : text(stdout), failed]).finally(() =>
    clearTimeout(timer),
  );
  const answer = parseResponse(printed);
  if (answer.ok) return answer.value;
  throw keychainUnavailable(
    file,
    late ? `the keychain did not respond within ${timeoutMs} ms` : answer.reason,
  );
}

type KeychainResponse =
  | { readonly ok: true; readonly value: string | undefined }
  | { readonly ok: false; readonly reason: string };

function parseResponse(printed: string): KeychainResponse {
  try {
    const value: unknown = JSON.parse(printed);
    if (isRecord(value) && value.ok === true)
      return { ok: true, value: typeof value.value === 'string' ? value.value : undefined };
    if (isRecord(value) && typeof value.reason === 'string') return { ok: false, reason: value.reason };
  } catch {
    // It exited without a response.
  }
  return { ok: false, reason: 'the request failed' };
}

/** An optional dependency: without it there is no keychain. */
function findKeychainModule(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve('@napi-rs/keyring');
  } catch {
    return undefined;
  }
}

const keychainUnavailable = (file: string, reason: string) =>
  secretsUnavailable(file, `Cannot access the keychain that holds the key for ${file}: ${reason}.`, {
    hint: 'Unlock the keychain, and run the command in the login session of the user who owns the keychain. The vault is unchanged.',
  });
