/** What the protocol's revisions know to do with a task; each of them has `taskId` for its params. */
import { CODES, isRecord, META, metaOf, type Params, RpcError } from './protocol.js';
import { unknownMethod } from './surface-errors.js';

export const TASK_METHODS: ReadonlySet<string> = new Set([
  'tasks/get',
  'tasks/result',
  'tasks/cancel',
  'tasks/update',
]);

/** What only looks at a task. */
export const SAFE_ON_TASKS: ReadonlySet<string> = new Set(['tasks/get', 'tasks/result']);

/** In the newer revision tasks are an extension, without the methods that ask for a result or for a list. */
const TASKS = 'io.modelcontextprotocol/tasks';

/** Throws where a client of the newer revision has not said that it knows tasks. */
export function checkTaskMethod(method: string, params: Params): void {
  if (!TASK_METHODS.has(method)) return;
  if (method === 'tasks/result') throw unknownMethod(method);
  const declared = metaOf(params)[META.capabilities];
  const extensions = isRecord(declared) ? declared.extensions : undefined;
  if (isRecord(extensions) && Object.hasOwn(extensions, TASKS)) return;
  throw new RpcError(CODES.missingCapability, `The client must declare the extension ${TASKS}`, {
    data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
    http: 400,
  });
}
