import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

type OwnServer =
  | 'listed-tools'
  | 'wrong-answers'
  | 'endless-stream'
  | 'piecemeal'
  | 'flooding'
  | 'pouring'
  | 'deaf';

/** Command and arguments of a server that is too unusual to be a fixture. */
export function ownServer(name: OwnServer, ...args: string[]): { command: string; args: string[] } {
  const file = fileURLToPath(new URL(`./servers/${name}.mjs`, import.meta.url));
  return { command: process.execPath, args: [file, ...args] };
}

export async function startOwnServer(
  name: OwnServer,
  ...more: string[]
): Promise<{ url: string; stop: () => void }> {
  const { command, args } = ownServer(name, ...more);
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const url = await new Promise<string>((resolve) => {
    child.stdout.on('data', (text: Buffer) => resolve(String(text).replace('READY ', '').trim()));
  });
  return { url, stop: () => void child.kill() };
}
