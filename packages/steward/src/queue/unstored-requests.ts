/** Requests that were queued in memory but are not in the database: not yet, or because that failed. */
import type { TurnbuckleError } from 'turnbuckle';
import type { StewardRequest } from '../requests/request.js';
import type { RequestStatus } from '../requests/request-status.js';
import { tooManyOpen } from './queue-errors.js';

const MAX_FAILED = 1_000;
const MAX_QUEUED = 1_000;

export class UnstoredRequests {
  readonly #queued = new Map<string, RequestStatus>();
  readonly #failed = new Map<string, RequestStatus>();

  /** OVERLOADED if the database does not keep up. */
  add(request: StewardRequest): void {
    if (this.#queued.size >= MAX_QUEUED) throw tooManyOpen(MAX_QUEUED);
    this.#failed.delete(request.id);
    this.#queued.set(request.id, statusOf(request));
  }

  delete(id: string): void {
    this.#queued.delete(id);
  }

  fail(request: StewardRequest, { code, message, hint }: TurnbuckleError): void {
    this.#queued.delete(request.id);
    const error = { code, message, ...(hint === undefined ? {} : { hint }) };
    this.#failed.set(request.id, { ...statusOf(request), state: 'failed', message, error });
    const [oldest] = this.#failed.keys();
    if (this.#failed.size > MAX_FAILED && oldest !== undefined) this.#failed.delete(oldest);
  }

  queued(id: string): RequestStatus | undefined {
    return this.#queued.get(id);
  }

  failed(id: string): RequestStatus | undefined {
    return this.#failed.get(id);
  }

  hasQueued(): boolean {
    return this.#queued.size > 0;
  }
}

const statusOf = ({ id, params: _, ...request }: StewardRequest): RequestStatus => ({
  requestId: id,
  ...request,
  state: 'queued',
  progress: 0,
  message: 'Waiting to be stored.',
  energyConsumed: 0,
});
