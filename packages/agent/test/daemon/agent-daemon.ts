/** A daemon with an agent for one test: its state survives `restart`. */
import { writeFileSync } from 'node:fs';
import { type Daemon, startDaemon } from '@turnbuckle/gateway';
import { type Script, startScriptedServer } from '@turnbuckle/model';
import { fixture, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import type { AgentPartOptions } from '../../src/daemon/part.js';
import { createAgentPart } from '../../src/daemon/part.js';
import type { AgentSettings } from '../../src/settings/agent-settings.js';

export interface AgentDaemonOptions {
  readonly script: Script;
  readonly config?: object;
  readonly settings?: AgentSettings;
  /** Read again when the configuration changes; undefined: there is no agent. */
  readonly changing?: () => AgentSettings | undefined;
  readonly steward?: AgentPartOptions['steward'];
}

export interface ShownConversation {
  readonly id: string;
  readonly state: string;
  readonly waitsForApproval?: boolean;
  readonly isUnanswered: boolean;
  readonly failure?: { readonly code: string; readonly message: string };
  readonly energy: { readonly used: number; readonly budget: number };
  readonly messages: ReadonlyArray<{
    readonly number: number;
    readonly kind: string;
    readonly text: string;
    readonly ok?: boolean;
  }>;
}

export interface ShownStats {
  readonly failure?: { readonly code: string };
  readonly energy: {
    readonly level: number;
    readonly range: string;
    readonly deducted: number;
    readonly consumed: { readonly model: number; readonly call: number; readonly steward: number };
  };
  readonly runningCalls: number;
}

export type AgentDaemon = Awaited<ReturnType<typeof startAgentDaemon>>;

export async function startAgentDaemon({
  script,
  config,
  settings = {},
  changing = () => ({}),
  steward,
}: AgentDaemonOptions) {
  const directory = await temporaryDirectory();
  const model = await startScriptedServer(script);
  const modelSettings = {
    provider: 'openai-compatible' as const,
    baseUrl: model.baseUrl,
    model: 'big',
    smallModel: 'small',
  };
  const file = directory.file('mcp.json');
  const counter = directory.file('effects.txt');
  writeFileSync(counter, '');
  const demo = fixture('echo', '--counter-file', counter);
  writeFileSync(file, JSON.stringify({ mcpServers: { demo }, ...config }));
  const start = (): Promise<Daemon> =>
    startDaemon({
      version: '0.0.0',
      stateDir: directory.file('state'),
      cwd: directory.path,
      environment: { ...process.env, HOME: directory.path, XDG_CONFIG_HOME: directory.file('config') },
      files: [file],
      port: 0,
      parts: [
        createAgentPart({
          settings: () => {
            const changed = changing();
            return changed && { model: modelSettings, ...settings, ...changed };
          },
          steward,
        }),
      ],
    });
  let daemon = await start();
  // A step offers the tools of servers that are connected by then.
  await waitUntil(() => daemon.configured.runtime.tools().length > 0);
  const request = async (path: string, init: RequestInit = {}, token = daemon.token): Promise<Response> =>
    fetch(daemon.url + path, {
      ...init,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
  const json = async <T>(path: string, init?: RequestInit): Promise<T> =>
    (await (await request(path, init)).json()) as T;
  const post = <T>(path: string, body: object = {}): Promise<T> =>
    json<T>(path, { method: 'POST', body: JSON.stringify(body) });
  return {
    counter,
    stateDir: directory.file('state'),
    get daemon() {
      return daemon;
    },
    request,
    json,
    post,
    say: async (text: string, conversation?: string): Promise<string> =>
      (
        await post<{ conversation: string }>('/message', {
          text,
          ...(conversation !== undefined && { conversation }),
        })
      ).conversation,
    show: (id: string) => json<ShownConversation>(`/conversations/${id}`),
    replies: async (id: string): Promise<string[]> =>
      (await json<ShownConversation>(`/conversations/${id}`)).messages
        .filter(({ kind }) => kind === 'reply')
        .map(({ text }) => text),
    stats: () => json<ShownStats>('/agent/stats'),
    restart: async () => {
      await daemon.close(1_000);
      daemon = await start();
    },
    close: async () => {
      await daemon.close(1_000);
      await model.close();
      await directory.remove();
    },
  };
}
