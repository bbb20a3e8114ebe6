/** The steward as the agent of the daemon uses it: nothing of it waits, and nothing tells the steward about energy. */
import type { SpentEnergy } from '../queue/ledger.js';
import type { Priority, RequestKind } from '../requests/request.js';
import type { RequestStatus, StewardMessage } from '../requests/request-status.js';
import type { StewardHost } from './steward-host.js';

export interface AgentLink {
  sendRequest(request: {
    readonly type: string;
    readonly params: Readonly<Record<string, unknown>>;
    readonly priority: string;
  }): Promise<string>;
  pollMessages(): readonly StewardMessage[];
  getSubAgentEnergyConsumption(): number;
  unconfirmedEnergy(): Promise<readonly SpentEnergy[]>;
  confirmEnergy(refs: readonly string[]): Promise<void>;
  hasActiveWork(): boolean;
  getStatus(id: string): Promise<RequestStatus | undefined>;
  cancelRequest(id: string, reason: string): Promise<RequestStatus>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  cancelAll(): Promise<void>;
}

const MAX_KEPT_MESSAGES = 1_000;
const MAX_CANCELLED = 500;

/** `host`: the steward while it is on. Give `onMessage` what the steward reports. */
export function createAgentLink(host: () => StewardHost | undefined): AgentLink & {
  onMessage(message: StewardMessage): void;
} {
  let messages: StewardMessage[] = [];
  const required = (): StewardHost => {
    const found = host();
    if (found === undefined) throw new Error('The steward is disabled.');
    return found;
  };
  /** Without a request there is no queue, and none is created. */
  const opened = (): StewardHost['queue'] | undefined => {
    const found = host();
    return found?.isOpen === true ? found.queue : undefined;
  };
  return {
    onMessage: (message) => {
      messages.push(message);
      if (messages.length > MAX_KEPT_MESSAGES) messages.shift();
    },
    pollMessages: () => {
      const polled = messages;
      messages = [];
      return polled;
    },
    sendRequest: ({ type, params, priority }) =>
      required().request({
        // Checked with the whole request.
        type: type as RequestKind,
        params,
        priority: priority as Priority,
      }),
    getSubAgentEnergyConsumption: () => opened()?.getSubAgentEnergyConsumption() ?? 0,
    unconfirmedEnergy: async () => (await opened()?.unconfirmedEnergy()) ?? [],
    confirmEnergy: async (refs) => opened()?.confirmEnergy(refs),
    hasActiveWork: () => host()?.isActive === true,
    getStatus: async (id) => opened()?.getStatus(id),
    cancelRequest: (id, reason) => required().queue.cancelRequest(id, reason),
    pause: async () => opened()?.pause(),
    resume: async () => opened()?.resume(),
    cancelAll: async () => {
      const { queue } = required();
      const open = await queue.listRequests({ states: ['queued', 'in_progress'], limit: MAX_CANCELLED });
      for (const { requestId } of open)
        await queue.cancelRequest(requestId, 'the agent has too little energy');
    },
  };
}
