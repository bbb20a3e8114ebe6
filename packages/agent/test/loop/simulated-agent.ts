/** A loop on a clock that only moves when the loop waits or works: days pass in a second. The database is real. */

import type { ChatModel } from '@turnbuckle/model';
import { type TemporaryDirectory, temporaryDirectory } from '@turnbuckle/testing';
import type { Execution, RuntimeEvents } from 'turnbuckle';
import { openAgentStore, runDirectly } from '../../src/conversations/agent-store.js';
import { AgentLoop } from '../../src/loop/agent-loop.js';
import type { AgentRuntime } from '../../src/loop/loop-parts.js';
import type { StewardLink } from '../../src/loop/steward-link.js';
import { type AgentSettings, toAgentConfig } from '../../src/settings/agent-settings.js';

type Settled = RuntimeEvents['call.settled'];

export interface SimulationOptions {
  readonly settings?: AgentSettings;
  readonly model: (clock: { now: number }) => ChatModel;
  readonly steward?: (clock: { now: number }) => StewardLink;
  /** What a call costs, in units. */
  readonly callEnergy?: number;
}

export async function simulate({ settings = {}, model, steward, callEnergy = 1 }: SimulationOptions) {
  const directory: TemporaryDirectory = await temporaryDirectory();
  const clock = { now: 1_000_000_000_000 };
  const config = toAgentConfig(settings);
  const events: Array<{ readonly name: string; readonly data: object }> = [];
  const listeners = new Set<(event: Settled) => void>();
  const spent = { calls: 0 };
  let lastId = 0;
  const nextId = (): number => {
    lastId += 1;
    return lastId;
  };
  const runtime = {
    redact: (value: unknown) => value,
    knowsSecret: () => false,
    visibleTools: async () => [{ name: 'demo_work', description: 'Works', inputSchema: { type: 'object' } }],
    on: (name: string, listener: (event: Settled) => void) => {
      if (name !== 'call.settled') return () => {};
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    execute: async (
      toolName: string,
      _input: unknown,
      options: { requestId: string; caller: { id: string; run: string } },
    ) => {
      spent.calls += callEnergy;
      const { requestId, caller } = options;
      const event = { callerId: caller.id, run: caller.run, requestId, energy: callEnergy };
      for (const listener of listeners) listener(event as unknown as Settled);
      return { toolName, success: true, result: 'done' } as Execution;
    },
  } as unknown as AgentRuntime;
  const open = async () => {
    const served = await openAgentStore({
      file: directory.file('work.db'),
      caller: config.caller,
      logDirectory: directory.file('log'),
      now: clock.now,
    });
    const store = runDirectly(served);
    const loop = new AgentLoop({
      store,
      runtime,
      config: () => config,
      model: () => chat,
      steward: link,
      clock: { now: () => clock.now, wait: async () => {} },
      createId: () => `id-${nextId()}`,
      publish: (name, data) => void events.push({ name, data }),
    });
    return { served, store, loop };
  };
  const chat = model(clock);
  const link = steward?.(clock);
  let current = await open();
  return {
    clock,
    events,
    spent,
    get store() {
      return current.store;
    },
    get loop() {
      return current.loop;
    },
    say: async (text: string, conversation?: string) => {
      const message = { conversation, newId: `c-${nextId()}`, text, at: clock.now };
      return current.store.run('addMessage', {
        ...message,
        budget: config.conversationBudget * 1_000,
        maxConversations: 100,
      });
    },
    /** Cycles until this much time has passed. */
    pass: async (ms: number, maxCycles = 100_000) => {
      const until = clock.now + ms;
      for (let cycle = 0; clock.now < until; cycle += 1) {
        if (cycle > maxCycles) throw new Error('The loop spins.');
        const waitMs = await current.loop.cycle();
        // Results of calls arrive beside the loop.
        await new Promise((resolve) => setImmediate(resolve));
        if (waitMs !== 0) clock.now = Math.min(clock.now + (waitMs ?? 10_000), until);
      }
    },
    /** The process ends without a word, and another one begins. */
    restart: async () => {
      current.served.close();
      current = await open();
    },
    close: async () => {
      current.served.close();
      await directory.remove();
    },
  };
}
