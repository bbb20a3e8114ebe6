/** A sign-in from end to end: an authorization server, a server behind it, and a runtime whose person agrees. */
import { temporaryDirectory } from '@turnbuckle/testing';
import {
  type AuthorizationServer,
  type ProtectedServer,
  type ProtectedServerOptions,
  type ProviderOptions,
  startAuthorizationServer,
  startProtectedServer,
  visit,
} from '@turnbuckle/testing/authorization-server';
import { createRuntime, type Runtime, type RuntimeOptions, type SignInPrompts } from 'turnbuckle';
import { onTestFinished } from 'vitest';

export interface Stage {
  readonly authorization: AuthorizationServer;
  readonly server: ProtectedServer;
  /** Where sign-ins are kept: all runtimes of a stage share it. */
  readonly stateDir: string;
  /** The pages that a person was sent to. */
  readonly pages: string[];
  readonly prompts: SignInPrompts;
  /** A runtime with the server, as a program of its own would have it. */
  open(auth?: object, options?: Partial<RuntimeOptions>): Promise<Runtime>;
}

export async function setStage(
  provider: ProviderOptions = {},
  wall: Partial<ProtectedServerOptions> = {},
): Promise<Stage> {
  const authorization = await startAuthorization(provider);
  const server = await startProtected({ authorizationServer: authorization, scope: 'tools:read', ...wall });
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const pages: string[] = [];
  const prompts: SignInPrompts = {
    async open({ url }) {
      pages.push(url);
      await visit(url);
    },
  };
  const { transport = 'http' } = wall;
  const open = async (auth?: object, options: Partial<RuntimeOptions> = {}): Promise<Runtime> => {
    const entry = { type: transport, url: server.url, ...(auth !== undefined && { auth }) };
    const runtime = await createRuntime({
      servers: { web: entry },
      stateDir: directory.path,
      environment: {},
      ...options,
    } as RuntimeOptions);
    onTestFinished(() => runtime.close());
    return runtime;
  };
  return { authorization, server, stateDir: directory.path, pages, prompts, open };
}

export async function startAuthorization(options: ProviderOptions = {}): Promise<AuthorizationServer> {
  const authorization = await startAuthorizationServer(options);
  onTestFinished(() => authorization.stop());
  return authorization;
}

export async function startProtected(options: ProtectedServerOptions): Promise<ProtectedServer> {
  const server = await startProtectedServer(options);
  onTestFinished(() => server.stop());
  return server;
}

/** What the echo tool of the server says. */
export async function echo(runtime: Runtime, text = 'hi', server = 'web'): Promise<string> {
  const result = await runtime.callTool(server, 'echo', { text });
  const [part] = result.content;
  return part !== undefined && 'text' in part ? String(part.text) : '';
}
