/** The store for the daemon, whose event loop never waits for SQLite: each method is an operation of the thread. */
import { openWorkDatabase, type ServedOperations } from '@turnbuckle/store';
import { ENERGY_STEPS } from '../energy/energy-steps.js';
import { CONVERSATION_STEPS } from './conversation-steps.js';
import { ConversationStore } from './conversation-store.js';
import { type RecoverOptions, recoverCalls } from './recover-calls.js';

/** The methods of the store. */
export type StoreOperations = {
  readonly [Name in keyof ConversationStore]: ConversationStore[Name];
};

/** `ThreadClient` has it; tests that need no thread use `runDirectly`. */
export interface AgentStore {
  run<Name extends keyof StoreOperations & string>(
    operation: Name,
    ...values: Parameters<StoreOperations[Name]>
  ): Promise<ReturnType<StoreOperations[Name]>>;
}

export interface OpenStoreOptions extends RecoverOptions {
  readonly file: string;
}

const OPERATIONS: ReadonlyArray<keyof StoreOperations> = [
  'addMessage',
  'addNews',
  'addReply',
  'commitReview',
  'commitStep',
  'compact',
  'counts',
  'deduct',
  'end',
  'endUrgency',
  'energyKnownSince',
  'energyState',
  'energyTotals',
  'fact',
  'find',
  'history',
  'linkRequest',
  'list',
  'messagesAfter',
  'openCalls',
  'newsReadTo',
  'overview',
  'recordEnergy',
  'select',
  'setCallState',
  'setFact',
  'settleCall',
];

/** Opens the tables of the agent, and settles what a process that died left open. */
export async function openAgentStore({ file, ...recover }: OpenStoreOptions): Promise<ServedOperations> {
  const steps = [...ENERGY_STEPS, ...CONVERSATION_STEPS];
  const database = await openWorkDatabase({ file, part: 'agent', steps });
  try {
    const store = new ConversationStore(database);
    await recoverCalls(store, recover);
    store.compact(recover.now);
    return {
      operations: Object.fromEntries(OPERATIONS.map((name) => [name, store[name].bind(store)])),
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The same without a thread: for tests and simulations. */
export const runDirectly = ({ operations }: ServedOperations): AgentStore => ({
  run: async (operation, ...values) => operations[operation]?.(...values) as never,
});
