import { type ChildProcess, spawn } from 'node:child_process';

const END = '\u001e';

/** One bash that runs the examples of a guide, one after the other. Variables that one sets remain for the next. */
export class Shell {
  readonly #child: ChildProcess;
  #printed = '';
  #onPrinted: (() => void) | undefined;

  constructor(env: Readonly<Record<string, string | undefined>>, cwd: string) {
    this.#child = spawn('bash', [], { env, cwd, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdout?.setEncoding('utf8').on('data', (part: string) => {
      this.#printed += part;
      this.#onPrinted?.();
    });
  }

  /** Runs a command and returns what it prints. */
  async runCommand(command: string): Promise<string> {
    this.#child.stdin?.write(`${command}\nprintf '${END}'\n`);
    while (!this.#printed.includes(END))
      await new Promise<void>((resolve) => {
        this.#onPrinted = resolve;
      });
    const [printed = '', ...rest] = this.#printed.split(END);
    this.#printed = rest.join(END);
    return printed;
  }

  end(): void {
    this.#child.stdin?.end();
  }
}
