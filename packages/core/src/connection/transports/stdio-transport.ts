/** The stdio transport: one child process, messages as lines of JSON, junk between them tolerated. */
import type { Readable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { factsOf, reach } from '../config/read-file.js';
import { TurnbuckleError } from '../errors.js';
import { writeJson } from '../json/spelling.js';
import { AwaitedSink } from './awaited-sink.js';
import { commandNotFound } from './command-not-found.js';
import { type FloodMeter, LINE_BYTES, Pauses, READ_BYTES, weigh } from './flood-meter.js';
import type { IgnoredReason } from './ignored-messages.js';
import { LineFraming } from './line-framing.js';
import type { MessageRules } from './message.js';
import { type MessageEdges, readEdges } from './message-edges.js';
import { MessageReader } from './message-reader.js';
import { Outbox, type UnsentLimits } from './outbox.js';
import type { Child, ProcessTable, SpawnOptions } from './processes.js';
import { reachProgram } from './reach-program.js';
import { StderrLines, type StderrListener } from './stderr-lines.js';
import { TextRing } from './text-ring.js';

const STDERR_BYTES = 256 * 1_024;
const SMALL_READ = 4_096;
const WHOLE_WRITE_BYTES = 16 * 1_024;

export interface StdioOptions extends SpawnOptions {
  readonly server: string;
  readonly maxBytes: number;
  readonly rules: MessageRules;
  readonly stderrListener?: StderrListener | undefined;
  /** Weighs what it writes unasked. */
  readonly flood: FloodMeter;
  readonly unsent: UnsentLimits;
}

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** A message over the size limit arrived; `edges` is its beginning and end. */
  onoversized?: (edges: MessageEdges, bytes: number) => void;
  onignored?: (reason: IgnoredReason) => void;
  isawaited?: (id: string | number) => boolean;
  /** Present, with `pid`, because the SDK tells a process-like transport by these two members. */
  readonly stderr = new TextRing(STDERR_BYTES);
  /** These requests certainly never left: the pipe broke under the write, or before it. */
  onunsent?: (ids: readonly unknown[]) => void;
  readonly #options: StdioOptions;
  readonly #processes: ProcessTable;
  #child: Child | undefined;
  #started: Promise<void> | undefined;
  #exit: { readonly code: number | null; readonly signal: string | null } | undefined;
  #lines: StderrLines | undefined;
  readonly #pauses: Pauses[] = [];
  /** What the chunk that is being read holds unasked, and whether it holds an answer. */
  #unasked = 0;
  #isAnswered = false;
  readonly #sink = new AwaitedSink(this);
  readonly outbox: Outbox;
  #outgoing = '';
  #outgoingIds: unknown[] = [];
  #closed = false;
  #stopped = false;

  constructor(options: StdioOptions, processes: ProcessTable) {
    this.#options = options;
    this.#processes = processes;
    this.outbox = new Outbox({
      server: options.server,
      limits: options.unsent,
      unsent: () => this.#outgoing.length + (this.#child?.process.stdin?.writableLength ?? 0),
      write: (text, id) => this.#append(text, id),
    });
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** How the process ended, once it has ended by itself; what we ended ourselves explains nothing. */
  get exit(): { readonly code: number | null; readonly signal: string | null } | undefined {
    return this.#exit;
  }

  /** Starts the process, once; may be called ahead of the SDK, so that both load at the same time. */
  start(): Promise<void> {
    this.#started ??= this.#inTurn();
    // Whoever awaits it sees the failure; started ahead, nobody does yet.
    this.#started.catch(() => {});
    return this.#started;
  }

  /** Starting a process holds up everything else: many at once take turns with the rest of the host. */
  async #inTurn(): Promise<void> {
    await this.#reachPlace();
    await this.#processes.turn();
    if (!this.#closed) return this.#spawn();
    throw new TurnbuckleError('CONNECTION_LOST', `Server "${this.#options.server}" was stopped.`);
  }

  /** The system holds up the whole process until a new one is in its directory and has found its program. */
  async #reachPlace(): Promise<void> {
    const { server, command, cwd = '.', env } = this.#options;
    try {
      await reach(cwd);
      await reachProgram(command, { path: env.PATH, directory: cwd });
    } catch (cause) {
      throw new TurnbuckleError(
        'CONNECT_FAILED',
        `Server "${server}" could not be started: its directory or its program does not answer; the drive that it is on may be away.`,
        { server, cause, hint: `Look whether ${cwd} and "${command}" can be reached.` },
      );
    }
  }

  #spawn(): Promise<void> {
    const child = this.#processes.spawn(this.#options);
    this.#child = child;
    const { stdin, stdout, stderr } = child.process;
    stdin?.on('error', () => this.#end());
    this.#readStderr(stderr);
    const reader = this.#readStdout(stdout);
    return new Promise((resolve, reject) => {
      child.process.once('spawn', resolve);
      child.process.once('error', (cause) => void this.#spawnError(cause).then(reject));
      child.process.once('exit', (code, signal) => {
        if (!this.#stopped) this.#exit = { code, signal };
        for (const pauses of this.#pauses) pauses.end();
      });
      // `close` comes after the last output was read: an answer written just before the end still counts.
      child.process.once('close', () => reader.whenIdle(() => this.#end()));
      // A descendant may hold the pipes open after the server itself is gone.
      child.process.once('exit', () => setTimeout(() => reader.whenIdle(() => this.#end()), 100).unref());
    });
  }

  #readStdout(stdout: Readable | null): MessageReader {
    const pauses = stdout === null ? undefined : this.#pausesOf(stdout);
    const reader = new MessageReader(this.#options.rules, this.#sink, {
      // What is not taken out of the pipe waits in it, and holds up its server only.
      onBusy: (isBusy) => pauses?.wait(isBusy),
      around: (deliver, length, isLate) => {
        this.#sink.isAwaited = false;
        deliver();
        if (this.#sink.isAwaited) this.#isAnswered = true;
        else if (isLate) pauses?.hold(this.#options.flood.take(length + LINE_BYTES));
        else this.#unasked += length + LINE_BYTES;
      },
    });
    const framing = new LineFraming(
      {
        onLine: (line) => reader.push(line),
        onOversized: (edges, bytes) => {
          const [head = '', tail = ''] = edges.split('\n');
          this.onoversized?.(readEdges(head, tail), bytes);
        },
      },
      this.#options.maxBytes,
    );
    stdout?.on('data', (chunk: Buffer) => {
      this.#unasked = framing.isTooLong ? chunk.length : 0;
      this.#isAnswered = false;
      framing.push(chunk);
      // A piece of a large answer and one of a large nuisance look the same, which is weighed when it is whole.
      if (this.#unasked > 0 || (!this.#isAnswered && chunk.length < SMALL_READ))
        pauses?.hold(this.#options.flood.take(this.#unasked + READ_BYTES));
    });
    return reader;
  }

  #readStderr(stderr: Readable | null): void {
    if (stderr === null) return;
    const pauses = this.#pausesOf(stderr);
    stderr.on('data', (chunk: Buffer) => {
      this.stderr.push(chunk);
      pauses.hold(this.#options.flood.take(weigh(chunk)));
    });
    this.#tellStderr(stderr);
  }

  #pausesOf(stream: Readable): Pauses {
    const pauses = new Pauses(stream);
    this.#pauses.push(pauses);
    return pauses;
  }

  #tellStderr(stderr: Readable): void {
    const { stderrListener } = this.#options;
    if (stderrListener === undefined) return;
    const lines = new StderrLines(stderrListener);
    this.#lines = lines;
    stderr.on('data', (chunk: Buffer) => lines.push(chunk));
    stderr.once('close', () => lines.end());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    return this.#write(writeJson(message), 'method' in message && 'id' in message ? message.id : undefined);
  }

  /** A request, where it has an id, or a notice. */
  sendText(text: string, id?: unknown): Promise<void> {
    return this.#write(text, id);
  }

  withdraw(id: unknown): boolean {
    return this.outbox.withdraw(id);
  }

  #write(text: string, id: unknown): Promise<void> {
    const stdin = this.#child?.process.stdin;
    if (this.#closed || stdin == null || !stdin.writable) {
      return Promise.reject(
        new TurnbuckleError('CONNECTION_LOST', `Server "${this.#options.server}" is not running.`),
      );
    }
    if (!this.outbox.isFree) return this.outbox.add(text, id);
    this.#append(text, id);
    return Promise.resolve();
  }

  /** Messages of one turn of the event loop leave in one write. */
  #append(text: string, id: unknown): void {
    if (this.#outgoing === '') queueMicrotask(() => this.#flush());
    this.#outgoing += `${text}\n`;
    if (id === undefined) return;
    this.#sink.sent();
    this.#outgoingIds.push(id);
  }

  async close(): Promise<void> {
    // A pipe that broke by itself is a sign that the process is about to be reported as ended.
    if (!this.#closed) this.#stopped = true;
    this.#end();
    await this.#child?.stop();
    // The pipe may stay open longer than anybody listens.
    this.#lines?.end();
  }

  #flush(): void {
    const text = this.#outgoing;
    const ids = this.#outgoingIds;
    this.#outgoing = '';
    this.#outgoingIds = [];
    const stdin = this.#child?.process.stdin;
    // A small write to an empty pipe goes whole or not at all; of a larger one a part may have arrived.
    const whole = stdin?.writableLength === 0 && text.length < WHOLE_WRITE_BYTES;
    stdin?.write(text, (error) => {
      if (error == null) this.outbox.moved();
      else if (whole) this.onunsent?.(ids);
    });
  }

  /** Once only, whether we closed it, its process ended or its pipe broke. */
  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.onunsent?.(this.outbox.close());
    this.onclose?.();
    // Nobody is left to read it for, but a server that cannot write cannot leave either.
    for (const pauses of this.#pauses) pauses.end();
    const { stdout } = this.#child?.process ?? {};
    stdout?.removeAllListeners('data').resume();
    // The server is gone for us; whatever of its tree is left has to go too.
    void this.#child?.stop();
  }

  async #spawnError(cause: Error): Promise<TurnbuckleError> {
    const { command, cwd, server } = this.#options;
    const errno = 'code' in cause ? cause.code : undefined;
    const missing = errno === 'ENOENT' || errno === 'EACCES' || errno === 'ENOTDIR';
    const what = errno === 'EACCES' ? 'may not be executed' : 'was not found';
    if (!missing)
      return new TurnbuckleError('CONNECT_FAILED', `Server "${server}" could not be started.`, {
        server,
        cause,
      });
    // The system says the same of both.
    if (cwd !== undefined && (await factsOf(cwd))?.isDirectory() !== true)
      return new TurnbuckleError(
        'COMMAND_NOT_FOUND',
        `Server "${server}" could not be started: its working directory ${cwd} is not a directory that exists.`,
        { server, cause, hint: 'Correct "cwd" in its configuration, or make the directory.' },
      );
    return commandNotFound({ server, command, directory: cwd ?? '.', what, cause });
  }
}
