// Tasks of the 2026-07-28 extension: created by the server, polled by the client, which also sends the requested input.
import { randomUUID } from 'node:crypto';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

const TTL_MS = 300_000;
const POLL_INTERVAL_MS = 200;

/**
 * @typedef {import('@modelcontextprotocol/server').InputRequest} InputRequest
 * @typedef {import('@modelcontextprotocol/server').CallToolResult} CallToolResult
 * @typedef {{ request: InputRequest, answer: (response: unknown) => void }} Question
 * @typedef {'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'} Status
 */

export class Tasks {
  /** @type {Map<string, Task>} */
  #tasks = new Map();

  /**
   * The task is stored before its id is sent to a client.
   * @param {(task: Task) => Promise<CallToolResult>} work
   */
  start(work) {
    const task = new Task();
    this.#tasks.set(task.id, task);
    setTimeout(() => this.#tasks.delete(task.id), TTL_MS).unref();
    void task.run(work);
    return task;
  }

  /** @param {string} id */
  get(id) {
    const task = this.#tasks.get(id);
    if (task === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown task: ${id}`);
    return task;
  }
}

export class Task {
  id = randomUUID();
  #createdAt = new Date().toISOString();
  #updatedAt = this.#createdAt;
  /** @type {Status} */
  #status = 'working';
  /** @type {{ result?: CallToolResult, error?: { code: number, message: string } }} */
  #outcome = {};
  /** @type {Map<string, Question>} */
  #questions = new Map();
  #abort = new AbortController();

  get signal() {
    return this.#abort.signal;
  }

  /** @param {(task: Task) => Promise<CallToolResult>} work */
  async run(work) {
    try {
      const result = await work(this);
      this.#end('completed', { result });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#end('failed', { error: { code: ProtocolErrorCode.InternalError, message } });
    }
  }

  /**
   * Resolves with the answer that a client sends for this key.
   * @param {string} key
   * @param {InputRequest} request
   * @returns {Promise<unknown>}
   */
  ask(key, request) {
    return new Promise((answer) => {
      this.#questions.set(key, { request, answer });
      this.#setStatus('input_required');
    });
  }

  /** @param {Record<string, unknown>} responses */
  update(responses) {
    for (const [key, response] of Object.entries(responses)) {
      const question = this.#questions.get(key);
      if (question === undefined) continue;
      this.#questions.delete(key);
      question.answer(response);
    }
    if (this.#questions.size === 0 && this.#status === 'input_required') this.#setStatus('working');
  }

  cancel() {
    this.#end('cancelled', {});
    this.#abort.abort();
  }

  /** The task as the client sees it when it starts. */
  summary() {
    return {
      taskId: this.id,
      status: this.#status,
      createdAt: this.#createdAt,
      lastUpdatedAt: this.#updatedAt,
      ttlMs: TTL_MS,
      pollIntervalMs: POLL_INTERVAL_MS,
    };
  }

  /** The same with its open input requests, result or error. */
  detail() {
    const open = [...this.#questions].map(([key, { request }]) => [key, request]);
    return {
      ...this.summary(),
      ...(this.#status === 'input_required' && { inputRequests: Object.fromEntries(open) }),
      ...this.#outcome,
    };
  }

  /**
   * Only the first final status counts.
   * @param {Status} status
   * @param {{ result?: CallToolResult, error?: { code: number, message: string } }} outcome
   */
  #end(status, outcome) {
    if (this.#status !== 'working' && this.#status !== 'input_required') return;
    this.#outcome = outcome;
    this.#setStatus(status);
  }

  /** @param {Status} status */
  #setStatus(status) {
    this.#status = status;
    this.#updatedAt = new Date().toISOString();
  }
}
