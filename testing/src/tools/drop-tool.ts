import { setTimeout as delay } from 'node:timers/promises';
import type { FixtureTool } from '../kernel/behaviour.js';
import { createTool, toText } from './tool.js';

/** Breaks the connection during the call and responds afterwards: a resumable stream still delivers the response. */
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
