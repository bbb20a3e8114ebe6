/** Which definitions of tools were approved. */
import { type PinStatus, type Runtime, TurnbuckleError } from 'turnbuckle';
import * as z from 'zod/mini';
import type { ApiRoute } from './api-route.js';
import { cleanTexts } from './clean.js';
import { NOTHING, readBody } from './fit.js';
import { PIN } from './shapes.js';
import { sightOf } from './sight.js';

export function createPinRoutes(runtime: Runtime): readonly ApiRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/pins',
      access: 'look',
      summary: 'What was approved of which tool, and whether it is still that',
      answer: z.object({ pins: z.array(PIN) }),
      handle: async (visit) => {
        const sight = sightOf(runtime, visit);
        const pins = await sight.seenOf(runtime.pins.list(), (pin) => pin);
        return cleanTexts({ pins: pins.map(toPin) }, runtime);
      },
    },
    {
      method: 'POST',
      path: '/api/pins/:server/:tool',
      access: 'manage',
      summary: 'Approve a tool as it is now',
      body: NOTHING,
      answer: z.object({ pinned: z.array(z.string()) }),
      handle: async (visit) => {
        const { server = '', tool = '' } = visit.parameters;
        await readBody(visit, NOTHING);
        const sight = sightOf(runtime, visit);
        sight.requireServer(server);
        if (runtime.catalog.find(server, tool) === undefined || !sight.sees({ server, tool }))
          throw new TurnbuckleError('TOOL_UNKNOWN', `Server "${server}" has no such tool now.`, {
            server,
            tool,
            hint: 'Connect the server first: what it does not offer cannot be approved.',
          });
        return { pinned: await runtime.pins.pin(server, tool, () => visit.confirm()) };
      },
    },
    {
      method: 'DELETE',
      path: '/api/pins/:server/:tool',
      access: 'manage',
      summary: 'Forget what was approved of a tool',
      answer: z.object({ unpinned: z.array(z.string()) }),
      handle: async (visit) => {
        const { server = '', tool = '' } = visit.parameters;
        // Its server may be gone. What may not be known has no pin.
        const isSeen = sightOf(runtime, visit).sees({ server, tool });
        const confirm = (): void => visit.confirm();
        return { unpinned: isSeen ? await runtime.pins.unpin(server, tool, confirm) : [] };
      },
    },
  ];
}

/** The definition itself may be long, and is what the tool says now unless `diff` says otherwise. */
export function toPin({ definition: _definition, ...pin }: PinStatus): Omit<PinStatus, 'definition'> {
  return pin;
}
