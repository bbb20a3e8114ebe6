/**
 * Task ids as clients see them: sealed, so that nothing has to be stored. An id holds the server and tool of its task
 * and opens only for its owner; any other id is unknown.
 */
import { randomBytes } from 'node:crypto';
import { copyRawNumbers, isRecord, type Permit } from 'turnbuckle/host';
import type { Params } from '../protocol/protocol.js';
import { Sealer } from './sealer.js';

export interface Task {
  readonly server: string;
  readonly tool: string;
  /** The task's id at its server. */
  readonly id: string;
  /** If the call was approved by a person. */
  readonly approved?: TaskApproval | undefined;
}

/** What a person approved, and when. */
export interface TaskApproval {
  readonly at: number;
  readonly permit: Permit;
}

const MAX_CHARACTERS = 8_192;
/** How long the approval of a call is valid for its task: an id can be kept forever. */
const APPROVAL_LIFETIME_MS = 24 * 3_600_000;
/** Where a result holds the id of its task. */
const RELATED_TASK_KEY = 'io.modelcontextprotocol/related-task';

export const makeTaskKey = (): Buffer => randomBytes(32);

export class TaskIds {
  readonly #sealer: Sealer;
  readonly #now: () => number;

  constructor(key: Buffer, now: () => number = Date.now) {
    this.#sealer = new Sealer(key, MAX_CHARACTERS);
    this.#now = now;
  }

  seal({ server, tool, id, approved }: Task, identity: string): string {
    const text = JSON.stringify([server, tool, id, ...(approved === undefined ? [] : [approved])]);
    return this.#sealer.seal(text, identity);
  }

  /** Undefined for an id that was not sealed here, or not for this identity. */
  open(id: unknown, identity: string): Task | undefined {
    const text = this.#sealer.open(id, identity);
    if (text === undefined) return undefined;
    const [server, tool, own, approved] = JSON.parse(text);
    return { server, tool, id: own, approved: this.#unexpiredApproval(approved) };
  }

  /** The text to seal. */
  createApproval(permit: Permit | undefined): TaskApproval | undefined {
    return permit && { at: this.#now(), permit };
  }

  /** Ids sealed by an earlier release say only that somebody approved, not what, which is not enough. */
  #unexpiredApproval(approved: unknown): TaskApproval | undefined {
    if (!isRecord(approved) || typeof approved.at !== 'number' || !isRecord(approved.permit))
      return undefined;
    const age = this.#now() - approved.at;
    return age >= 0 && age < APPROVAL_LIFETIME_MS ? (approved as unknown as TaskApproval) : undefined;
  }
}

/** Whether a result refers to a task. */
export const hasTask = (result: Params): boolean => ownIdOf(result) !== undefined;

/** The result with the sealed ids of its task. */
export function withTaskIds(result: Params, seal: (id: string) => string): Params {
  const { taskId, task, _meta } = result;
  const related = isRecord(_meta) ? _meta[RELATED_TASK_KEY] : undefined;
  return copyRawNumbers(result, {
    ...result,
    ...(typeof taskId === 'string' && { taskId: seal(taskId) }),
    ...(hasId(task) && { task: { ...task, taskId: seal(task.taskId) } }),
    ...(hasId(related) && {
      _meta: { ...Object(_meta), [RELATED_TASK_KEY]: { ...related, taskId: seal(related.taskId) } },
    }),
  });
}

function ownIdOf({ taskId, task, _meta }: Params): string | undefined {
  if (typeof taskId === 'string') return taskId;
  if (hasId(task)) return task.taskId;
  const related = isRecord(_meta) ? _meta[RELATED_TASK_KEY] : undefined;
  return hasId(related) ? related.taskId : undefined;
}

const hasId = (value: unknown): value is Params & { readonly taskId: string } =>
  isRecord(value) && typeof value.taskId === 'string';
