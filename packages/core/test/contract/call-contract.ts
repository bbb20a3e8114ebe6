import type { Runtime, ServerRequestAnswers } from 'turnbuckle';
import { afterAll, beforeAll, describe } from 'vitest';
import { answersContract } from './answers-contract.js';
import { clockContract } from './clock-contract.js';
import { itemsContract } from './items-contract.js';
import { listContract } from './list-contract.js';
import { serverRequestsContract } from './server-requests-contract.js';
import type { Setting } from './setting.js';
import { Stage } from './stage.js';

/** The runtimes of a cell: one that answers server requests, and one without handlers. */
export interface Cell {
  readonly setting: Setting;
  readonly runtime: Runtime;
  readonly bare: Runtime;
}

const ANSWERS: ServerRequestAnswers = {
  elicitation: () => ({ action: 'accept', content: { name: 'Ada' } }),
  sampling: () => ({ role: 'assistant', content: { type: 'text', text: 'yes' }, model: 'test' }),
  roots: () => ({ roots: [{ uri: 'file:///tmp', name: 'tmp' }] }),
};

/** Everything that a call guarantees, tested in one cell of the matrix. */
export function callContract(setting: Setting): void {
  const lane = setting.expressLane ? 'express lane' : 'SDK lane';
  describe(`${setting.transport}, ${setting.era}, ${lane}`, () => {
    const stage = new Stage(setting);
    let cell: Cell | undefined;
    const opened = (): Cell => {
      if (cell === undefined) throw new Error('the cell is not open');
      return cell;
    };

    beforeAll(async () => {
      const [main, moving] = await Promise.all([stage.server('echo'), stage.server('list-changing')]);
      const runtime = await stage.runtime({ main, moving }, { handlers: ANSWERS });
      const bare = await stage.runtime({ main });
      cell = { setting, runtime, bare };
    }, 60_000);
    afterAll(() => stage.close(), 60_000);

    listContract(opened);
    answersContract(opened);
    clockContract(opened);
    serverRequestsContract(opened);
    itemsContract(opened);
  });
}
