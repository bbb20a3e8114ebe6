/** The steward as the agent of the daemon uses it. Nothing tells the steward about energy. */
import type { AgentReport } from '../queue/agent-report.js';
import type { MessageType, StewardMessage } from '../requests/request-status.js';
import type { StewardHost } from './steward-host.js';

export interface AgentLink {
  /** `after`: the number of the last news that the caller has read. */
  poll(question: {
    readonly caller: string;
    readonly types: readonly MessageType[];
    readonly after: number;
  }): Promise<AgentReport>;
  confirmEnergy(refs: readonly string[]): Promise<void>;
  /** Only what the caller has asked for itself. */
  pause(caller: string): Promise<void>;
  resume(): Promise<void>;
  cancelAllOf(caller: string, reason: string): Promise<void>;
}

/** What tells the link how far the daemon has followed the messages of the steward. */
export interface FollowedMessages {
  /** News are handed over up to this one. */
  followed(message: StewardMessage): void;
  /** News from this message on are kept back until the work has ended. */
  keepBack(message: StewardMessage, work: Promise<void>): void;
}

const NOTHING = { news: [], energy: [], hasWork: false, hasOwnWork: false } as const;

/** `host`: the steward while it is on. */
export function createAgentLink(host: () => StewardHost | undefined): AgentLink & FollowedMessages {
  let lastFollowed: number | undefined;
  const keptBack = new Set<number>();
  const upTo = (): number | undefined => (keptBack.size === 0 ? lastFollowed : Math.min(...keptBack) - 1);
  /** Without a request there is no queue, and none is created. */
  const opened = (): StewardHost['queue'] | undefined => {
    const found = host();
    return found?.isOpen === true ? found.queue : undefined;
  };
  return {
    followed: ({ number }) => {
      lastFollowed = number;
    },
    keepBack: ({ number }, work) => {
      keptBack.add(number);
      void work.finally(() => keptBack.delete(number));
    },
    poll: async (question) =>
      (await opened()?.agentReport({ ...question, upTo: upTo() })) ?? { ...NOTHING, readTo: question.after },
    confirmEnergy: async (refs) => opened()?.confirmEnergy(refs),
    pause: async (caller) => opened()?.holdCaller(caller),
    resume: async () => opened()?.holdCaller(undefined),
    cancelAllOf: async (caller, reason) => {
      await opened()?.cancelAllOf(caller, reason);
    },
  };
}
