import { type SpawnOptions, spawn as spawnProcess } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { release } from 'node:os';
import { delimiter, join } from 'node:path';
import { TurnbuckleError } from '../errors.js';
import { parseUrl } from './parse-url.js';
import { refused } from './refusal.js';

interface Opener {
  once(event: 'spawn', listener: () => void): unknown;
  once(event: 'error', listener: (error: Error) => void): unknown;
  unref(): void;
}

export interface OpenBrowserOptions {
  readonly platform?: NodeJS.Platform | undefined;
  readonly spawn?: ((command: string, args: readonly string[], options: SpawnOptions) => Opener) | undefined;
}

/**
 * Shows a web page in the user's browser; resolves when the opener runs. Only for http(s) without credentials
 * (else FETCH_REFUSED), never through a shell. Rejects with COMMAND_NOT_FOUND where there is no opener.
 */
export async function openBrowser(url: string | URL, options: OpenBrowserOptions = {}): Promise<void> {
  const { platform = process.platform, spawn = spawnProcess } = options;
  const page = pageOf(url);
  const [command, ...args] = openerFor(platform);
  await new Promise<void>((resolve, reject) => {
    const child = spawn(command, [...args, page], { stdio: 'ignore', detached: true, shell: false });
    child.once('spawn', resolve);
    child.once('error', (cause) => reject(noOpener(command, cause)));
    child.unref();
  });
}

/** The address as one harmless word: openers are often scripts that hand it on to a shell of their own. */
function pageOf(input: string | URL): string {
  const url = parseUrl(input);
  if (url === undefined)
    throw refused({ url: undefined, reason: 'url', because: 'it is not a valid address' });
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw refused({ url, reason: 'scheme', because: 'only http and https pages are opened in a browser' });
  }
  if (url.username !== '' || url.password !== '') {
    throw refused({ url, reason: 'credentials', because: 'it has a user name or password in it' });
  }
  if (!/^(?:[\w.-]+|\[[\da-f:.]+\])$/.test(url.hostname)) {
    throw refused({ url, reason: 'url', because: 'its host has characters that no host has' });
  }
  const page = url.href.replaceAll(/["'`$()<>\\^{|}!*;]/g, percentEncoded);
  if (!/^https?:\/\/[\x21-\x7e]+$/.test(page)) {
    throw refused({ url, reason: 'url', because: 'it has control characters in it' });
  }
  return page;
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

function openerFor(platform: NodeJS.Platform): [command: string, ...args: string[]] {
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') {
    // By its full path: Windows looks for a bare name in the current directory first.
    const root = process.env.SystemRoot ?? 'C:\\Windows';
    return [`${root}\\System32\\rundll32.exe`, 'url.dll,FileProtocolHandler'];
  }
  return /microsoft/i.test(release()) && isOnPath('wslview') ? ['wslview'] : ['xdg-open'];
}

function isOnPath(command: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((directory) => {
    if (directory === '') return false;
    try {
      accessSync(join(directory, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function noOpener(command: string, cause: Error): TurnbuckleError {
  return new TurnbuckleError('COMMAND_NOT_FOUND', `No browser could be opened: "${command}" does not run.`, {
    hint: 'Open the address by hand.',
    cause,
  });
}
