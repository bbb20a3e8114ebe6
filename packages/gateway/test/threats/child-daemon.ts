/** The built daemon in a process of its own: what would end it, or stand it still, does not do so to the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type TemporaryDirectory, temporaryDirectory } from '@turnbuckle/testing';

type Answer = Readonly<Record<string, unknown>>;

export interface ChildDaemon {
  readonly directory: TemporaryDirectory;
  readonly child: ChildProcess;
  readonly pid: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<unknown>;
  /** A call over the bridge: what was answered. */
  call(server: string, tool: string, args?: object): Promise<Answer>;
  get(path: string): Promise<Answer>;
  /** Ends it whatever it does, and takes its directory away. */
  remove(): Promise<void>;
}

export async function childDaemon(config: object, given?: TemporaryDirectory): Promise<ChildDaemon> {
  const directory = given ?? (await temporaryDirectory());
  writeFileSync(directory.file('mcp.json'), JSON.stringify(config));
  const program = fileURLToPath(new URL('daemon-process.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, directory.path], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { url, token } = JSON.parse(String(line));
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const read = async (response: Response): Promise<Answer> => (await response.json()) as Answer;
  return {
    ...{ directory, child, url, headers, ended },
    pid: child.pid ?? 0,
    call: async (server, tool, args = {}) => {
      const body = JSON.stringify({ server, tool_name: tool, arguments: args });
      return read(await fetch(`${url}/mcp/call`, { method: 'POST', headers, body }));
    },
    get: async (path) => read(await fetch(url + path, { headers })),
    remove: async () => {
      child.kill('SIGKILL');
      await ended;
      await directory.remove();
    },
  };
}
