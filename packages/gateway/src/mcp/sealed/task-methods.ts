/** The task methods of the protocol revisions; each has `taskId` in its params. */

import { isRecord } from 'turnbuckle/host';
import { unknownMethod } from '../dispatcher-errors.js';
import { CODES, META, metaOf, type Params, RpcError } from '../protocol/protocol.js';

export const TASK_METHODS: ReadonlySet<string> = new Set([
  'tasks/get',
  'tasks/result',
  'tasks/cancel',
  'tasks/update',
]);

/** Methods that only read a task. */
export const READ_ONLY_TASK_METHODS: ReadonlySet<string> = new Set(['tasks/get', 'tasks/result']);

/** In the newer revision tasks are an extension, without the methods for results and lists. */
const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Throws if a client of the newer revision has not declared the extension. */
export function checkTaskMethod(method: string, params: Params): void {
  if (!TASK_METHODS.has(method)) return;
  if (method === 'tasks/result') throw unknownMethod(method);
  const declared = metaOf(params)[META.capabilities];
  const extensions = isRecord(declared) ? declared.extensions : undefined;
  if (isRecord(extensions) && Object.hasOwn(extensions, TASKS_EXTENSION)) return;
  throw new RpcError(CODES.missingCapability, `The client must declare the extension ${TASKS_EXTENSION}`, {
    data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
    http: 400,
  });
}
