import { type SpawnOptions, spawn as spawnProcess } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { release } from 'node:os';
import { delimiter, join } from 'node:path';
import { TurnbuckleError } from '../errors.js';
import { fetchRefused } from './fetch-refused.js';
import { parseUrl } from './parse-url.js';

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
 * Opens a web page in the user's browser; resolves when the opener runs. Only for http(s) without credentials
 * (otherwise FETCH_REFUSED), never through a shell. Rejects with COMMAND_NOT_FOUND if there is no opener.
 */
export async function openBrowser(url: string | URL, options: OpenBrowserOptions = {}): Promise<void> {
  const { platform = process.platform, spawn = spawnProcess } = options;
  const page = safePageUrl(url);
  const [command, ...args] = openerFor(platform);
  await new Promise<void>((resolve, reject) => {
    const child = spawn(command, [...args, page], { stdio: 'ignore', detached: true, shell: false });
    child.once('spawn', resolve);
    child.once('error', (cause) => reject(noOpener(command, cause)));
    child.unref();
  });
}

/** The address as a single safe argument: openers are often scripts that pass it to a shell. */
function safePageUrl(input: string | URL): string {
  const url = parseUrl(input);
  if (url === undefined)
    throw fetchRefused({ url: undefined, reason: 'url', because: 'it is not a valid address' });
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw fetchRefused({
      url,
      reason: 'scheme',
      because: 'only http and https pages are opened in a browser',
    });
  }
  if (url.username !== '' || url.password !== '') {
    throw fetchRefused({ url, reason: 'credentials', because: 'it contains a user name or password' });
  }
  if (!/^(?:[\w.-]+|\[[\da-f:.]+\])$/.test(url.hostname)) {
    throw fetchRefused({ url, reason: 'url', because: 'its host contains invalid characters' });
  }
  const page = url.href.replaceAll(/["'`$()<>\\^{|}!*;]/g, percentEncoded);
  if (!/^https?:\/\/[\x21-\x7e]+$/.test(page)) {
    throw fetchRefused({ url, reason: 'url', because: 'it contains control characters' });
  }
  return page;
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

function openerFor(platform: NodeJS.Platform): [command: string, ...args: string[]] {
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') {
    // By its full path: Windows searches the current directory first for a bare name.
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
  return new TurnbuckleError(
    'COMMAND_NOT_FOUND',
    `Cannot open a browser because "${command}" failed to start.`,
    {
      hint: 'Open the address in a browser yourself.',
      cause,
    },
  );
}
