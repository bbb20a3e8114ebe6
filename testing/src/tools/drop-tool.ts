import { setTimeout as delay } from 'node:timers/promises';
import type { FixtureTool } from '../kernel/behaviour.js';
import { createTool, toText } from './tool.js';

/** Breaks the line under the call and answers afterwards: a resumable stream still brings the answer. */
export function createDropTool(): FixtureTool {
  return createTool(
    { name: 'drop', description: 'Breaks the connection before it answers' },
    async (_, { reply }) => {
      reply.drop();
      await delay(5);
      return toText('answered after the break');
    },
  );
}
