import type { ChatModel, StepOutcome, StepRequest, ToolCall } from '@turnbuckle/model';
import fc from 'fast-check';
import { TurnbuckleError } from 'turnbuckle';
import { afterEach, describe, expect, it } from 'vitest';
import type { StewardLink } from '../../src/loop/steward-link.js';
import { simulate } from './simulated-agent.js';

let open: { close(): Promise<void> } | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const call = (name: string, input: object = {}): ToolCall => ({ id: 'x', name, input });
const usage = { inputTokens: 0, outputTokens: 0 };

/** A model that takes this long for a step. */
const modelOf =
  (ms: number, answer: (request: StepRequest) => readonly ToolCall[], spent?: { model: number }) =>
  (clock: { now: number }): ChatModel => ({
    step: async (request): Promise<StepOutcome> => {
      clock.now += ms;
      if (spent !== undefined) spent.model += Math.round(ms * 2);
      return { text: '', toolCalls: answer(request), usage, ms };
    },
  });

/** A steward that has work all the time and uses this much in a second. */
function busySteward(perSecond: number, log: string[]) {
  const spent = { thousandths: 0 };
  const link = (clock: { now: number }): StewardLink => {
    let [at, isPaused, isCancelled, row] = [clock.now, false, false, 0];
    const rows = new Map<string, number>();
    return {
      poll: async ({ after }) => {
        const amount = isPaused || isCancelled ? 0 : Math.floor((clock.now - at) * perSecond);
        at = clock.now;
        spent.thousandths += amount;
        if (amount > 0) row += 1;
        if (amount > 0) rows.set(`row-${row}`, amount);
        const energy = [...rows].map(([ref, thousandths]) => ({ ref, thousandths, at }));
        const hasWork = !isCancelled;
        return { news: [], readTo: after, energy, hasWork, hasOwnWork: hasWork };
      },
      // Every other confirmation is lost: the rows come again.
      confirmEnergy: async (refs) => {
        if (row % 2 === 0) for (const ref of refs) rows.delete(ref);
      },
      pause: async () => {
        log.push('pause');
        isPaused = true;
      },
      resume: async () => {
        log.push('resume');
        isPaused = false;
      },
      cancelAllOf: async () => {
        log.push('cancel');
        isCancelled = true;
      },
    };
  };
  return { link, spent };
}

// requirement E7
describe('the loop over a long time', () => {
  it('never stops at the floor: every message gets a reply, whatever model and steward use', async () => {
    const step = fc.record({
      action: fc.constantFrom(
        'respond',
        'demo_work',
        'think',
        'await_energy',
        'snooze_conversation',
        'nonsense',
      ),
      level: fc.integer({ min: -100, max: 500 }),
    });
    const workload = fc.record({
      modelMs: fc.integer({ min: 1, max: 90_000 }),
      stewardPerSecond: fc.integer({ min: 0, max: 20 }),
      way: fc.constantFrom('finish' as const, 'pause' as const, 'cancel' as const),
      steps: fc.array(step, { minLength: 1, maxLength: 12 }),
      messages: fc.integer({ min: 1, max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(workload, async ({ modelMs, stewardPerSecond, way, steps, messages }) => {
        const spent = { model: 0 };
        const steward = busySteward(stewardPerSecond, []);
        let at = 0;
        const model = modelOf(
          modelMs,
          ({ tools }) => {
            at += 1;
            const { action, level } = steps[at % steps.length] ?? { action: 'respond', level: 0 };
            const isOffered = tools.some(({ name }) => name === action);
            return [call(isOffered ? action : 'respond', { text: 'hi', thought: 't', level, minutes: 5 })];
          },
          spent,
        );
        const settings = { lowEnergy: way, conversationBudget: 1_000_000 };
        const agent = await simulate({ settings, model, steward: steward.link });
        try {
          const ids: string[] = [];
          for (let count = 0; count < messages; count += 1) {
            const added = await agent.say(`message ${count}`);
            if ('conversation' in added) ids.push(added.conversation);
            await agent.pass(30_000);
            if (count % 2 === 1) await agent.restart();
          }
          await agent.pass(1_800_000);
          for (const id of ids) {
            const shown = await agent.store.run('messagesAfter', id, 0, 100);
            expect(shown.some(({ kind }) => kind === 'reply' || kind === 'failure')).toBe(true);
            expect((await agent.store.run('find', id))?.unansweredSince).toBeUndefined();
          }
          // Everything is deducted, and nothing twice.
          await agent.loop.cycle();
          const { bySource, deducted, open: left } = await agent.store.run('energyTotals');
          expect(bySource).toEqual({
            model: spent.model,
            call: agent.spent.calls * 1_000,
            steward: steward.spent.thousandths,
          });
          expect(deducted + left).toBe(spent.model + agent.spent.calls * 1_000 + steward.spent.thousandths);
        } finally {
          await agent.close();
        }
      }),
      { numRuns: 3 },
    );
  });

  it.each([
    ['finish', ['pause', 'resume']],
    ['pause', ['pause', 'resume']],
    ['cancel', ['cancel']],
  ] as const)('treats a steward that uses too much with "%s"', async (lowEnergy, expected) => {
    const log: string[] = [];
    const steward = busySteward(3, log);
    const agent = await simulate({
      settings: { lowEnergy },
      model: modelOf(1, () => []),
      steward: steward.link,
    });
    open = agent;
    await agent.pass(240_000);
    expect(log.slice(0, expected.length)).toEqual(expected);
    const levels = agent.events.flatMap(({ name, data }) => (name === 'agent.steward' ? [data] : []));
    const [first] = levels as { level: number }[];
    if (lowEnergy === 'finish') expect(first?.level).toBeLessThanOrEqual(-25);
    else expect(first?.level).toBeGreaterThan(0);
  });

  it('resumes a steward that an earlier process has paused', async () => {
    const log: string[] = [];
    const agent = await simulate({ model: modelOf(1, () => []), steward: busySteward(3, log).link });
    open = agent;
    await agent.pass(50_000);
    expect(log).toEqual(['pause']);
    await agent.restart();
    await agent.pass(30_000);
    expect(log.slice(0, 2)).toEqual(['pause', 'resume']);
  });

  it('reviews a conversation that has ended once, with at most one follow-up', async () => {
    const agent = await simulate({
      model: modelOf(100, ({ messages }) =>
        JSON.stringify(messages).includes('This conversation has ended')
          ? [call('respond', { text: 'one more thing' }), call('respond', { text: 'and another' })]
          : [call('respond', { text: 'bye' }), call('end_conversation')],
      ),
    });
    open = agent;
    const added = await agent.say('hello');
    const id = 'conversation' in added ? added.conversation : '';
    await agent.pass(200_000);
    const shown = async () =>
      (await agent.store.run('messagesAfter', id, 0, 100)).map((one) => 'text' in one && one.text);
    expect(await shown()).toEqual(['hello', 'bye']);
    await agent.pass(2_000_000);
    expect(await shown()).toEqual(['hello', 'bye', 'one more thing']);
  });

  it('stops a conversation at its budget, and a model that never answers after twelve steps', async () => {
    const agent = await simulate({
      settings: { conversationBudget: 1 },
      model: modelOf(100, () => [call('think', { thought: 'hm' })]),
    });
    open = agent;
    const added = await agent.say('hello');
    const id = 'conversation' in added ? added.conversation : '';
    await agent.pass(60_000);
    expect((await agent.store.run('messagesAfter', id, 0, 10)).at(-1)).toMatchObject({
      code: 'BUDGET_EXCEEDED',
    });
    await agent.close();
    const patient = await simulate({ model: modelOf(100, () => [call('think', { thought: 'hm' })]) });
    open = patient;
    const other = await patient.say('hello');
    await patient.pass(60_000);
    const name = 'conversation' in other ? other.conversation : '';
    expect((await patient.store.run('messagesAfter', name, 0, 10)).at(-1)).toMatchObject({
      code: 'RESULT_INVALID',
    });
    expect((await patient.store.run('counts')).steps).toBe(12);
  });

  it.each([
    ['CONNECT_FAILED', 3],
    ['AUTH_FAILED', 1],
  ] as const)(
    'tells the user that the model failed with %s after %i attempts, and charges each',
    async (code, attempts) => {
      const agent = await simulate({
        model: (clock) => ({
          step: async () => {
            clock.now += 500;
            throw new TurnbuckleError(code, 'The model server failed.');
          },
        }),
      });
      open = agent;
      const added = await agent.say('hello');
      const id = 'conversation' in added ? added.conversation : '';
      await agent.pass(60_000);
      const shown = await agent.store.run('messagesAfter', id, 0, 10);
      expect(shown.map(({ kind }) => kind)).toEqual(['user', 'failure']);
      expect(shown.at(-1)).toMatchObject({ code });
      expect((await agent.store.run('energyTotals')).bySource.model).toBe(attempts * 1_000);
    },
  );
});
