import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface HostOptions {
  readonly servers: Readonly<Record<string, unknown>>;
  readonly stateDir: string;
  readonly runtimes?: number;
  readonly ending: string;
  /** The value of the variable `CYCLE` of all server processes of this host. */
  readonly mark: string;
}

export interface Host {
  readonly process: ChildProcess;
  /** The next message of the host that begins with this word. */
  said(word: string): Promise<Readonly<Record<string, unknown>>>;
  /** Lets it end in the way that its options name. */
  go(): void;
  /** Resolves with its exit code or signal. */
  readonly ended: Promise<number | string>;
}

/** Starts host.mjs with plain Node on the built library. */
export function startHost(options: HostOptions): Host {
  const program = fileURLToPath(new URL('host.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => {});
  const heard: Array<Readonly<Record<string, unknown>>> = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => heard.push(JSON.parse(line)));
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  return {
    process: child,
    async said(word) {
      for (;;) {
        const index = heard.findIndex((message) => message.word === word);
        const [message] = index === -1 ? [] : heard.splice(index, 1);
        if (message !== undefined) return message;
        const gone = await Promise.race([once(lines, 'line').then(() => false), ended.then(() => true)]);
        if (gone && !heard.some((one) => one.word === word))
          throw new Error(`the host ended without ${word}: ${stderr}`);
      }
    },
    go: () => void child.stdin?.write('go\n'),
    ended,
  };
}
