/** The stdio transport: one child process, messages as lines of JSON, other lines tolerated. */
import type { Readable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { TurnbuckleError } from '../../errors.js';
import { probePath, statOrUndefined } from '../../files/read-file.js';
import { writeJson } from '../../json/lossless-json.js';
import { commandNotFound } from '../processes/command-not-found.js';
import { probeProgram } from '../processes/probe-program.js';
import type { Child, ProcessTable, SpawnOptions } from '../processes/process-table.js';
import { StderrLines, type StderrListener } from '../processes/stderr-lines.js';
import { TextRing } from '../processes/text-ring.js';
import {
  BYTES_PER_LINE,
  BYTES_PER_READ,
  chunkCost,
  type FloodMeter,
  StreamPauses,
} from '../protocol/flood-meter.js';
import type { IgnoredReason } from '../protocol/ignored-messages.js';
import type { MessageRules } from '../protocol/message.js';
import { type MessageEdges, readEdges } from '../protocol/message-edges.js';
import { MessageReader } from '../protocol/message-reader.js';
import { AwaitedSink } from './http/awaited-sink.js';
import { LineFraming } from './line-framing.js';
import { Outbox, type UnsentLimits } from './outbox.js';

const MAX_STDERR_BYTES = 256 * 1_024;
const SMALL_READ_BYTES = 4_096;
const ATOMIC_WRITE_BYTES = 16 * 1_024;
const RESOLVED = Promise.resolve();

export interface StdioOptions extends SpawnOptions {
  readonly server: string;
  readonly maxBytes: number;
  readonly rules: MessageRules;
  readonly stderrListener?: StderrListener | undefined;
  /** Measures its unrequested output. */
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
  /** Present, with `pid`, because the SDK recognizes a process-like transport by these two members. */
  readonly stderr = new TextRing(MAX_STDERR_BYTES);
  /** These requests were certainly never sent: the pipe broke during the write, or before it. */
  onunsent?: (ids: readonly unknown[]) => void;
  readonly #options: StdioOptions;
  readonly #processes: ProcessTable;
  #child: Child | undefined;
  #started: Promise<void> | undefined;
  #exit: { readonly code: number | null; readonly signal: string | null } | undefined;
  #stderrLines: StderrLines | undefined;
  readonly #pauses: StreamPauses[] = [];
  /** The unrequested data in the current chunk, and whether it contains a response. */
  #unsolicitedBytes = 0;
  #sawAnswer = false;
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
      bufferedBytes: () => this.#outgoing.length + (this.#child?.process.stdin?.writableLength ?? 0),
      write: (text, id) => this.#append(text, id),
    });
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** How the process exited by itself; an exit that we caused explains nothing. */
  get exit(): { readonly code: number | null; readonly signal: string | null } | undefined {
    return this.#exit;
  }

  /** Starts the process, once; may be called before the SDK is loaded, so that both load in parallel. */
  start(): Promise<void> {
    this.#started ??= this.#startWhenAllowed();
    // A caller that awaits it sees the failure; when started ahead, there is none yet.
    this.#started.catch(() => {});
    return this.#started;
  }

  /** Starting a process blocks everything else: many starts alternate with other work. */
  async #startWhenAllowed(): Promise<void> {
    await this.#probeProgram();
    await this.#processes.acquireSpawnSlot();
    if (!this.#closed) return this.#spawn().catch((cause: Error) => this.#spawnError(cause));
    throw new TurnbuckleError('CONNECTION_LOST', `Server "${this.#options.server}" was stopped.`);
  }

  /** The system blocks the whole process until the new one is in its directory and has found its program. */
  async #probeProgram(): Promise<void> {
    const { server, command, cwd = '.', env } = this.#options;
    try {
      await probePath(cwd);
      await probeProgram(command, { path: env.PATH, directory: cwd });
    } catch (cause) {
      throw new TurnbuckleError(
        'CONNECT_FAILED',
        `Cannot start server "${server}" because reading its working directory or program file timed out. Check that the drive they are on is available.`,
        { server, cause, hint: `Check that ${cwd} and "${command}" are accessible.` },
      );
    }
  }

  /** Rejects with the system's error. */
  async #spawn(): Promise<void> {
    const child = this.#processes.spawn(this.#options);
    this.#child = child;
    const { stdin, stdout, stderr } = child.streams;
    stdin?.on('error', () => this.#onEnd());
    this.#readStderr(stderr);
    const reader = this.#readStdout(stdout);
    return new Promise((resolve, reject) => {
      child.process.once('spawn', resolve);
      child.process.once('error', reject);
      child.process.once('exit', (code, signal) => {
        if (!this.#stopped) this.#exit = { code, signal };
        for (const pauses of this.#pauses) pauses.end();
      });
      // `close` comes after the last output was read: a response written just before the exit still counts.
      child.process.once('close', () => reader.whenIdle(() => this.#onEnd()));
      // A descendant may keep the pipes open after the server itself is gone.
      child.process.once('exit', () => setTimeout(() => reader.whenIdle(() => this.#onEnd()), 100).unref());
    });
  }

  #readStdout(stdout: Readable | undefined): MessageReader {
    const pauses = stdout === undefined ? undefined : this.#pausesOf(stdout);
    const reader = new MessageReader(this.#options.rules, this.#sink, {
      // Unread data waits in the pipe, and blocks only its server.
      onBusy: (isBusy) => pauses?.setBusy(isBusy),
      wrapDelivery: (deliver, length, isLate) => {
        this.#sink.sawAwaitedAnswer = false;
        deliver();
        if (this.#sink.sawAwaitedAnswer) this.#sawAnswer = true;
        else if (isLate) pauses?.pauseFor(this.#options.flood.record(length + BYTES_PER_LINE));
        else this.#unsolicitedBytes += length + BYTES_PER_LINE;
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
      this.#unsolicitedBytes = framing.isTooLong ? chunk.length : 0;
      this.#sawAnswer = false;
      framing.push(chunk);
      // Chunks of a large response and of a large unrequested message look the same until it is complete.
      if (this.#unsolicitedBytes > 0 || (!this.#sawAnswer && chunk.length < SMALL_READ_BYTES))
        pauses?.pauseFor(this.#options.flood.record(this.#unsolicitedBytes + BYTES_PER_READ));
    });
    return reader;
  }

  #readStderr(stderr: Readable | undefined): void {
    if (stderr === undefined) return;
    const pauses = this.#pausesOf(stderr);
    stderr.on('data', (chunk: Buffer) => {
      this.stderr.push(chunk);
      pauses.pauseFor(this.#options.flood.record(chunkCost(chunk)));
    });
    this.#forwardStderr(stderr);
  }

  #pausesOf(stream: Readable): StreamPauses {
    const pauses = new StreamPauses(stream);
    this.#pauses.push(pauses);
    return pauses;
  }

  #forwardStderr(stderr: Readable): void {
    const { stderrListener } = this.#options;
    if (stderrListener === undefined) return;
    const lines = new StderrLines(stderrListener);
    this.#stderrLines = lines;
    stderr.on('data', (chunk: Buffer) => lines.push(chunk));
    stderr.once('close', () => lines.end());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    return this.#write(writeJson(message), 'method' in message && 'id' in message ? message.id : undefined);
  }

  /** A request, if it has an id, or a notification. */
  sendText(text: string, id?: unknown): Promise<void> | undefined {
    return this.#write(text, id);
  }

  withdraw(id: unknown): boolean {
    return this.outbox.withdraw(id);
  }

  #write(text: string, id: unknown): Promise<void> | undefined {
    const stdin = this.#child?.process.stdin;
    if (this.#closed || stdin == null || !stdin.writable) {
      return Promise.reject(
        new TurnbuckleError('CONNECTION_LOST', `Server "${this.#options.server}" is not running.`),
      );
    }
    if (!this.outbox.isFree) return this.outbox.add(text, id);
    this.#append(text, id);
    return undefined;
  }

  /** Messages of one turn of the event loop are sent in one write. */
  #append(text: string, id: unknown): void {
    // Not queueMicrotask: Node creates an async resource for each of those.
    if (this.#outgoing === '') void RESOLVED.then(this.#flush);
    this.#outgoing += `${text}\n`;
    if (id === undefined) return;
    this.#sink.sent();
    this.#outgoingIds.push(id);
  }

  async close(): Promise<void> {
    // If a pipe broke by itself, the exit of the process will be reported soon.
    if (!this.#closed) this.#stopped = true;
    this.#onEnd();
    await this.#child?.stop();
    // The pipe may stay open longer than there are listeners.
    this.#stderrLines?.end();
  }

  readonly #flush = (): void => {
    const text = this.#outgoing;
    const ids = this.#outgoingIds;
    this.#outgoing = '';
    this.#outgoingIds = [];
    const stdin = this.#child?.process.stdin;
    // A small write to an empty pipe is atomic; of a larger one a part may have arrived.
    const whole = stdin?.writableLength === 0 && text.length < ATOMIC_WRITE_BYTES;
    stdin?.write(text, (error) => {
      if (error == null) this.outbox.onDrain();
      else if (whole) this.onunsent?.(ids);
    });
  };

  /** Only once, whether we closed it, its process exited or its pipe broke. */
  #onEnd(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.onunsent?.(this.outbox.close());
    this.onclose?.();
    // Keep reading: a server that cannot write cannot exit either.
    for (const pauses of this.#pauses) pauses.end();
    const { stdout } = this.#child?.process ?? {};
    stdout?.removeAllListeners('data').resume();
    // The server is gone for us; the rest of its process tree has to go too.
    void this.#child?.stop();
  }

  async #spawnError(cause: Error): Promise<never> {
    const { command, cwd, server } = this.#options;
    const errno = 'code' in cause ? cause.code : undefined;
    const missing = errno === 'ENOENT' || errno === 'EACCES' || errno === 'ENOTDIR';
    const what = errno === 'EACCES' ? 'is not executable' : 'was not found';
    if (!missing)
      throw new TurnbuckleError('CONNECT_FAILED', `Cannot start server "${server}".`, {
        server,
        cause,
        ...(isOutOfDescriptors(errno) && {
          hint: 'This process has too many open files. Raise its limit (ulimit -n), or use fewer servers and connections.',
        }),
      });
    // The system reports the same error for both.
    if (cwd !== undefined && (await statOrUndefined(cwd))?.isDirectory() !== true)
      throw new TurnbuckleError(
        'COMMAND_NOT_FOUND',
        `Cannot start server "${server}" because its working directory ${cwd} does not exist or is not a directory.`,
        { server, cause, hint: `Correct "cwd" in the server's configuration, or create the directory.` },
      );
    throw commandNotFound({ server, command, directory: cwd ?? '.', what, cause });
  }
}

const isOutOfDescriptors = (errno: unknown): boolean => errno === 'EMFILE' || errno === 'ENFILE';
