/** The examples of `docs/api.md`: lines that start with `$ ` in its console blocks. */
import { execFileSync } from 'node:child_process';

export interface ApiExample {
  readonly command: string;
  /** Such as `GET /api/servers`; undefined if the command sends none. */
  readonly request: string | undefined;
}

export function readApiExamples(guide: string): ApiExample[] {
  return [...guide.matchAll(/^```console\n([\s\S]*?)^```/gm)]
    .flatMap(([, block = '']) => [...block.matchAll(/^\$ (.+)$/gm)])
    .map(([, command = '']) => ({ command, request: requestOf(command) }));
}

function requestOf(command: string): string | undefined {
  const [, method, path] = /^api (\w+) +"?([^\s"?]+)/.exec(command) ?? [];
  if (path !== undefined) return `${method} ${path}`;
  const [, requested] = /^curl .*\$TURNBUCKLE([^\s"?]+)/.exec(command) ?? [];
  return requested && `GET ${requested}`;
}

/** Whether this machine has what the examples need: bash and curl. */
export function canRunApiExamples(): boolean {
  try {
    execFileSync('bash', ['-c', 'curl --version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
