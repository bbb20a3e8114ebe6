/**
 * The vault's key in the keychain of the operating system. The keychain is asked from a process of its own:
 * its library talks to it synchronously, and one that does not answer would hold up this process for ever.
 */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { isRecord } from '../is-record.js';
import { formatKeys, type KeyPlace, parseKeys } from './key-place.js';
import { secretsUnavailable } from './vault-errors.js';

export interface KeychainOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Names the vault among those of this user. */
  readonly account: string;
  readonly file: string;
  /** After so long it does not answer. */
  readonly timeoutMs: number;
}

const SERVICE = 'turnbuckle';

/** What a process needs to find the user's session, and nothing that could be a secret. */
const SESSION =
  /^(PATH|HOME|USER|LOGNAME|LANG|DISPLAY|XAUTHORITY|WAYLAND_DISPLAY|XDG_\w+|DBUS_\w+|TEMP|TMP|APPDATA|LOCALAPPDATA|USERPROFILE|SYSTEMROOT|WINDIR|COMSPEC)$/i;

/**
 * One question, one answer, as JSON. Written as text so that it is there in a bundle too. On Linux only the
 * Secret Service will do: the kernel's own keyring forgets everything at the next boot.
 */
const ASK = `
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

/** SECRETS_UNAVAILABLE when nothing answers, whatever the reason. */
export function keychain(options: KeychainOptions): KeyPlace {
  return {
    async read() {
      const value = await ask(options, { action: 'get' });
      const keys = parseKeys(value ?? '');
      if (keys === undefined) throw silent(options.file, 'what it holds is no key');
      return keys;
    },
    async write(keys) {
      const value = formatKeys(keys);
      const kept = await ask(options, keys.length > 0 ? { action: 'set', value } : { action: 'delete' });
      if ((kept ?? '') !== value) throw silent(options.file, 'it did not keep what it was given');
    },
  };
}

type Question = { readonly action: 'get' | 'delete' } | { readonly action: 'set'; readonly value: string };

async function ask(options: KeychainOptions, question: Question): Promise<string | undefined> {
  const { file, environment, account, timeoutMs } = options;
  const module = locate();
  if (module === undefined) throw silent(file, 'its library @napi-rs/keyring is not installed');
  const session = Object.entries(environment).filter(([name]) => SESSION.test(name));
  const child = spawn(process.execPath, ['-e', ASK, module, SERVICE, account], {
    env: { ...Object.fromEntries(session), ELECTRON_RUN_AS_NODE: '1' },
    stdio: ['pipe', 'pipe', 'ignore'],
    windowsHide: true,
  });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    child.kill('SIGKILL');
  }, timeoutMs);
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify(question));
  const failed = new Promise<string>((resolve) => child.once('error', () => resolve('')));
  const printed = await Promise.race([text(child.stdout), failed]).finally(() => clearTimeout(timer));
  const answer = toAnswer(printed);
  if (answer.ok) return answer.value;
  throw silent(file, late ? `no answer within ${timeoutMs} ms` : answer.reason);
}

type Answer =
  | { readonly ok: true; readonly value: string | undefined }
  | { readonly ok: false; readonly reason: string };

function toAnswer(printed: string): Answer {
  try {
    const value: unknown = JSON.parse(printed);
    if (isRecord(value) && value.ok === true)
      return { ok: true, value: typeof value.value === 'string' ? value.value : undefined };
    if (isRecord(value) && typeof value.reason === 'string') return { ok: false, reason: value.reason };
  } catch {
    // It ended without an answer.
  }
  return { ok: false, reason: 'it could not be asked' };
}

/** An optional dependency: where it could not be installed there is no keychain. */
function locate(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve('@napi-rs/keyring');
  } catch {
    return undefined;
  }
}

const silent = (file: string, reason: string) =>
  secretsUnavailable(file, `The keychain, which holds the key of ${file}, does not answer: ${reason}.`, {
    hint: 'Unlock it, and run this in the session of its user. The vault itself is not touched.',
  });
