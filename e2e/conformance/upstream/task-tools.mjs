// The tools of the tasks scenarios, and the methods with which a client polls and updates a task.
import { setTimeout as pause } from 'node:timers/promises';
import { inputRequired, MissingRequiredClientCapabilityError } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { answersOf, filledIn, offeredBy, textResult } from './call.mjs';
import { formOf } from './forms.mjs';

export const EXTENSION = 'io.modelcontextprotocol/tasks';

/**
 * @typedef {import('./call.mjs').Call} Call
 * @typedef {import('./call.mjs').CallToolResult} CallToolResult
 * @typedef {import('./tasks.mjs').Task} Task
 */

/** @param {string} message @param {string} field @param {'boolean' | 'string'} type */
const form = (message, field, type) =>
  inputRequired.elicit({ message, requestedSchema: formOf({ [field]: FIELDS[type] }, [field]) });
const FIELDS = {
  boolean: { type: /** @type {const} */ ('boolean') },
  string: { type: /** @type {const} */ ('string') },
};

/** @param {Call} call */
const hasTasks = (call) => offeredBy(call)?.extensions?.[EXTENSION] !== undefined;

/** @param {Call} call */
function needTasks(call) {
  if (!hasTasks(call))
    throw new MissingRequiredClientCapabilityError({
      requiredCapabilities: { extensions: { [EXTENSION]: {} } },
    });
}

/**
 * @param {Call} call
 * @param {(task: Task) => Promise<CallToolResult>} work
 */
function begin(call, work) {
  needTasks(call);
  const task = call.world.tasks.start(work);
  // The SDK has no type for the result of this extension.
  return /** @type {CallToolResult} */ (/** @type {unknown} */ ({ resultType: 'task', ...task.summary() }));
}

/** @param {unknown} answer */
const isAccepted = (answer) =>
  typeof answer === 'object' && answer !== null && 'action' in answer && answer.action === 'accept';

/** @type {import('./call.mjs').Tools} */
export const TASK_TOOLS = {
  greet: {
    inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    run: ({ name }) => textResult(`Hello, ${name}!`),
  },
  slow_compute: {
    inputSchema: {
      type: 'object',
      properties: { seconds: { type: 'number' }, label: { type: 'string' } },
      required: ['seconds'],
    },
    run: (args, call) => {
      /** @param {AbortSignal} signal */
      const compute = async (signal) => {
        await pause(Number(args.seconds) * 1_000, undefined, { signal });
        return textResult(`computed ${args.label}`);
      };
      return hasTasks(call)
        ? begin(call, ({ signal }) => compute(signal))
        : compute(call.context.mcpReq.signal);
    },
  },
  failing_job: {
    run: (_args, call) =>
      begin(call, async ({ signal }) => {
        await pause(1_000, undefined, { signal });
        return { ...textResult('the job did not work'), isError: true };
      }),
  },
  protocol_error_job: {
    run: (_args, call) =>
      begin(call, async ({ signal }) => {
        await pause(100, undefined, { signal });
        throw new Error('the server itself failed');
      }),
  },
  confirm_delete: {
    inputSchema: { type: 'object', properties: { filename: { type: 'string' } }, required: ['filename'] },
    run: ({ filename }, call) =>
      begin(call, async (task) => {
        const answer = await task.ask('confirmation', form(`Delete ${filename}?`, 'confirm', 'boolean'));
        return textResult(isAccepted(answer) ? `deleted ${filename}` : `kept ${filename}`);
      }),
  },
  multi_input: {
    run: (_args, call) =>
      begin(call, async (task) => {
        const answers = await Promise.all([
          task.ask('first', form('The first name?', 'name', 'string')),
          task.ask('second', form('The second name?', 'name', 'string')),
        ]);
        return textResult(`${answers.filter(isAccepted).length} answers`);
      }),
  },
  test_tool_with_task: {
    run: (_args, call) => {
      needTasks(call);
      if (answersOf(call).user_name === undefined)
        return inputRequired({
          inputRequests: { user_name: form('What is your name?', 'name', 'string') },
        });
      const name = filledIn(call, 'user_name')?.name ?? 'nobody';
      return begin(call, async () => textResult(`Hello from the task, ${name}`));
    },
  },
};

const Named = z.looseObject({ taskId: z.string() });

/**
 * @param {import('@modelcontextprotocol/server').Server} server
 * @param {import('./world.mjs').World} world
 */
export function serveTasks(server, world) {
  server.setRequestHandler('tasks/get', { params: Named }, ({ taskId }, context) => {
    needTasks({ context, world });
    return world.tasks.get(taskId).detail();
  });
  server.setRequestHandler('tasks/update', { params: Named }, ({ taskId }, context) => {
    needTasks({ context, world });
    world.tasks.get(taskId).update(answersOf({ context, world }));
    return {};
  });
  server.setRequestHandler('tasks/cancel', { params: Named }, ({ taskId }, context) => {
    needTasks({ context, world });
    world.tasks.get(taskId).cancel();
    return {};
  });
}
