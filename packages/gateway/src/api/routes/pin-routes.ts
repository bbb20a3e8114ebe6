/** Pins: which tool definitions were approved. */
import { type Runtime, TurnbuckleError } from 'turnbuckle';
import { inSlices, mapSteps, type PinStatus } from 'turnbuckle/host';
import * as z from 'zod/mini';
import type { ApiRoute } from '../../http/api-route.js';
import { createListTurns } from '../../http/limits/list-turns.js';
import { redactTexts } from '../../http/redact.js';
import { EMPTY_OBJECT, readOptionalJson } from '../../http/validate.js';
import { PIN } from '../shapes/shapes.js';
import { visibilityOf } from '../visibility.js';

export function createPinRoutes(runtime: Runtime): readonly ApiRoute[] {
  const inTurn = createListTurns();
  return [
    {
      method: 'GET',
      path: '/api/pins',
      access: 'read',
      summary: 'List pins, and whether each tool still matches its pin',
      response: z.object({ pins: z.array(PIN) }),
      handle: inTurn(
        (context) => visibilityOf(runtime, context).visibleOf(runtime.pins.list(), (pin) => pin),
        async (pins) => ({ pins: await redactTexts(await inSlices(mapSteps(pins, toPin)), runtime) }),
      ),
    },
    {
      method: 'POST',
      path: '/api/pins/:server/:tool',
      access: 'admin',
      summary: 'Pin the current definition of a tool',
      body: EMPTY_OBJECT,
      response: z.object({ pinned: z.array(z.string()) }),
      handle: async (context) => {
        const { server = '', tool = '' } = context.parameters;
        await readOptionalJson(context, EMPTY_OBJECT);
        const visibility = visibilityOf(runtime, context);
        visibility.requireServer(server);
        if (runtime.catalog.find(server, tool) === undefined || !visibility.canSee({ server, tool }))
          throw new TurnbuckleError('TOOL_UNKNOWN', `Server "${server}" does not offer the tool "${tool}".`, {
            server,
            tool,
            hint: 'Connect the server first. Only a tool that the server currently offers can be pinned.',
          });
        return { pinned: await runtime.pins.pin(server, tool, () => context.requireActiveToken()) };
      },
    },
    {
      method: 'DELETE',
      path: '/api/pins/:server/:tool',
      access: 'admin',
      summary: 'Remove the pin from a tool',
      response: z.object({ unpinned: z.array(z.string()) }),
      handle: async (context) => {
        const { server = '', tool = '' } = context.parameters;
        // Its server may be gone. For what is hidden there is no pin.
        const isSeen = visibilityOf(runtime, context).canSee({ server, tool });
        const confirm = (): void => context.requireActiveToken();
        return { unpinned: isSeen ? await runtime.pins.unpin(server, tool, confirm) : [] };
      },
    },
  ];
}

/** Without the definition, which may be long and is the current one unless `diff` says otherwise. */
export function toPin({ definition: _definition, ...pin }: PinStatus): Omit<PinStatus, 'definition'> {
  return pin;
}
