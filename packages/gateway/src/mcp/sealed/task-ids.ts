/**
 * Ids of tasks as clients see them: sealed, so that nothing has to be remembered. One says which tool of which server
 * the task came from, and opens only for whose it is; every other id is none.
 */
import { randomBytes } from 'node:crypto';
import { keepSpelling, type Permit } from 'turnbuckle';
import { isRecord, type Params } from './protocol.js';
import { Seal } from './seal.js';

export interface Task {
  readonly server: string;
  readonly tool: string;
  /** Its id at its server. */
  readonly id: string;
  /** Where a person was asked about the call. */
  readonly approved?: Approved | undefined;
}

/** What a person said yes to, and when. */
export interface Approved {
  readonly at: number;
  readonly permit: Permit;
}

const MAX_CHARACTERS = 8_192;
/** So long a yes to a call holds for its task: an id can be kept for ever. */
const APPROVED_MS = 24 * 3_600_000;
/** Where a result of a task says whose it is. */
const RELATED = 'io.modelcontextprotocol/related-task';

export const makeTaskKey = (): Buffer => randomBytes(32);

export class TaskIds {
  readonly #seal: Seal;
  readonly #now: () => number;

  constructor(key: Buffer, now: () => number = Date.now) {
    this.#seal = new Seal(key, MAX_CHARACTERS);
    this.#now = now;
  }

  seal({ server, tool, id, approved }: Task, identity: string): string {
    const text = JSON.stringify([server, tool, id, ...(approved === undefined ? [] : [approved])]);
    return this.#seal.close(text, identity);
  }

  /** Undefined for what was not sealed here, or not for this identity. */
  open(id: unknown, identity: string): Task | undefined {
    const text = this.#seal.open(id, identity);
    if (text === undefined) return undefined;
    const [server, tool, own, approved] = JSON.parse(text);
    return { server, tool, id: own, approved: this.#stillApproved(approved) };
  }

  /** For what is to be sealed. */
  approvedNow(permit: Permit | undefined): Approved | undefined {
    return permit && { at: this.#now(), permit };
  }

  /** Ids that were sealed by an earlier release say only that somebody approved, not what: that is not enough. */
  #stillApproved(approved: unknown): Approved | undefined {
    if (!isRecord(approved) || typeof approved.at !== 'number' || !isRecord(approved.permit))
      return undefined;
    const age = this.#now() - approved.at;
    return age >= 0 && age < APPROVED_MS ? (approved as unknown as Approved) : undefined;
  }
}

/** Whether a result speaks of a task. */
export const hasTask = (result: Params): boolean => ownIdOf(result) !== undefined;

/** The same result with the ids of its task as clients see them. */
export function withTaskIds(result: Params, seal: (id: string) => string): Params {
  const { taskId, task, _meta } = result;
  const related = isRecord(_meta) ? _meta[RELATED] : undefined;
  return keepSpelling(result, {
    ...result,
    ...(typeof taskId === 'string' && { taskId: seal(taskId) }),
    ...(hasId(task) && { task: { ...task, taskId: seal(task.taskId) } }),
    ...(hasId(related) && {
      _meta: { ...Object(_meta), [RELATED]: { ...related, taskId: seal(related.taskId) } },
    }),
  });
}

function ownIdOf({ taskId, task, _meta }: Params): string | undefined {
  if (typeof taskId === 'string') return taskId;
  if (hasId(task)) return task.taskId;
  const related = isRecord(_meta) ? _meta[RELATED] : undefined;
  return hasId(related) ? related.taskId : undefined;
}

const hasId = (value: unknown): value is Params & { readonly taskId: string } =>
  isRecord(value) && typeof value.taskId === 'string';
