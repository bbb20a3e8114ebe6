/** Ids of tasks as clients see them: they say whose task it is. */
import { keepSpelling } from 'turnbuckle';
import { isRecord, type Params } from './protocol.js';

const SEPARATOR = '~';

/** The same result with ids that lead back to the server. */
export function withTaskId(result: Params, server: string): Params {
  const own = typeof result.taskId === 'string' ? { taskId: `${server}${SEPARATOR}${result.taskId}` } : {};
  const { task } = result;
  const inner =
    isRecord(task) && typeof task.taskId === 'string'
      ? { task: { ...task, taskId: `${server}${SEPARATOR}${task.taskId}` } }
      : {};
  return 'taskId' in own || 'task' in inner ? keepSpelling(result, { ...result, ...own, ...inner }) : result;
}

/** The server and its own id; undefined for what is not an id of ours. */
export function readTaskId(id: unknown): { readonly server: string; readonly id: string } | undefined {
  if (typeof id !== 'string') return undefined;
  const cut = id.indexOf(SEPARATOR);
  return cut <= 0 ? undefined : { server: id.slice(0, cut), id: id.slice(cut + 1) };
}
