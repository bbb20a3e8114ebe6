/** The set-up for the examples of a guide: a home directory with a daemon, and one shell that runs them all. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Shell, temporaryDirectory } from '@turnbuckle/testing';
import { startAuthorizationServer, startProtectedServer } from '@turnbuckle/testing/authorization-server';
import { type Daemon, startDaemon } from '../../src/daemon/daemon.js';

const FILES_SERVER = fileURLToPath(new URL('./files-server.mjs', import.meta.url));
/** The address of the daemon in the guide. */
const SHOWN_URL = 'http://127.0.0.1:7420';

export interface GuideStage {
  readonly daemon: Daemon;
  /** Runs a command and returns what it prints. Variables that it sets remain for the next one. */
  runCommand(command: string): Promise<string>;
  file(name: string): string;
  close(): Promise<void>;
}

/** Configures the servers of the guide: `web`, which requires a sign-in, and `files`, which the guide starts with npx. */
export async function openGuideStage(): Promise<GuideStage> {
  const home = await temporaryDirectory();
  const programs = home.file('programs');
  mkdirSync(programs);
  writeFileSync(join(programs, 'npx'), `#!/bin/sh\nexec "${process.execPath}" "${FILES_SERVER}"\n`);
  chmodSync(join(programs, 'npx'), 0o755);
  const environment = {
    HOME: home.path,
    PATH: [programs, process.env.PATH].join(delimiter),
    LANG: 'C.UTF-8',
  };
  const authorizationServer = await startAuthorizationServer({});
  const web = await startProtectedServer({ authorizationServer, scope: 'tools:read' });
  mkdirSync(home.file('.config/turnbuckle'), { recursive: true });
  writeFileSync(
    home.file('.config/turnbuckle/mcp.json'),
    JSON.stringify({
      servers: { web: { type: 'http', url: web.url, start: 'lazy' } },
      rules: [{ action: 'ask', tool: 'write_file' }],
    }),
  );
  const daemon = await startDaemon({ version: '0.0.0', cwd: home.path, environment, port: 0 });
  const shell = new Shell(environment, home.path);
  return {
    daemon,
    runCommand: (command) => shell.runCommand(command.replace(SHOWN_URL, daemon.url)),
    file: (name) => home.file(name),
    close: async () => {
      shell.end();
      await daemon.close(1_000);
      await Promise.all([web.stop(), authorizationServer.stop()]);
      await home.remove();
    },
  };
}
