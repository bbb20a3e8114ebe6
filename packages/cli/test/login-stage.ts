/** A home with a server that requires sign-in, and an opener script that really visits the page. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, readFile } from 'node:fs/promises';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '@turnbuckle/testing';
import {
  type AuthorizationServer,
  type ProtectedServer,
  type ProtectedServerOptions,
  startAuthorizationServer,
  startProtectedServer,
} from '@turnbuckle/testing/authorization-server';
import { onTestFinished } from 'vitest';
import {
  BIN,
  createHome,
  environmentOf,
  type Finished,
  finished,
  type Home,
  programsOf,
} from './commands/turnbuckle.js';

const VISIT = fileURLToPath(new URL('../../../testing/dist/authorization-server/browse.js', import.meta.url));

export interface LoginStage {
  readonly home: Home;
  readonly authorization: AuthorizationServer;
  readonly server: ProtectedServer;
  run(...words: string[]): Promise<Finished>;
  /** The running command, with its stdin open. */
  begin(...words: string[]): Running;
  /** The arguments of each start of the browser. */
  opened(): Promise<string[][]>;
}

export interface Running {
  readonly process: ChildProcess;
  /** The sign-in page that the command prints. */
  page(): Promise<string>;
  readonly ended: Promise<Finished>;
}

export async function setLoginStage(
  options: Partial<ProtectedServerOptions> & { readonly browser?: boolean } = {},
): Promise<LoginStage> {
  const authorization = await startAuthorizationServer();
  const server = await startProtectedServer({
    authorizationServer: authorization,
    scope: 'tools:read',
    ...options,
  });
  const home = await createHome({ web: { type: 'http', url: server.url } });
  onTestFinished(async () => {
    await server.stop();
    await authorization.stop();
    await home.remove();
  });
  const log = home.file('opened');
  // PATH has the opener script; without a browser, it excludes the opener of this machine too.
  const script = `#!${process.execPath}
const { appendFileSync } = require('node:fs');
appendFileSync(${JSON.stringify(log)}, JSON.stringify(process.argv.slice(2)) + '\\n');
import(${JSON.stringify(VISIT)}).then(({ browse }) => browse(process.argv[2]));
`;
  const opener = await home.write('bin/xdg-open', options.browser === false ? '' : script);
  if (options.browser !== false) await chmod(opener, 0o755);
  const path = [
    home.file('bin'),
    programsOf(home),
    ...(options.browser === false ? [] : [process.env.PATH ?? '']),
  ];
  const begin = (...words: string[]): Running => {
    const child = spawn(process.execPath, [BIN, ...words], {
      cwd: home.project,
      env: { ...environmentOf(home), PATH: path.join(delimiter) },
      stdio: 'pipe',
    });
    child.stdin.on('error', () => {});
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const find = (): string | undefined => /^ {2}(http:\S+)$/m.exec(output)?.[1];
    const page = async (): Promise<string> => {
      await waitUntil(() => find() !== undefined || child.exitCode !== null, 30_000);
      return find() ?? '';
    };
    return { process: child, page, ended: finished(child) };
  };
  return {
    home,
    authorization,
    server,
    begin,
    run(...words) {
      const { process: child, ended } = begin(...words);
      child.stdin?.end();
      return ended;
    },
    async opened() {
      const text = await readFile(log, 'utf8').catch(() => '');
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as string[]);
    },
  };
}
