/** A complete sign-in setup: an authorization server, a server that requires its tokens, and a runtime whose user consents. */
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
  /** The directory with the sign-ins: all runtimes of a stage share it. */
  readonly stateDir: string;
  /** The pages that the user was sent to. */
  readonly pages: string[];
  readonly prompts: SignInPrompts;
  /** A new runtime with the server, as a separate program would open it. */
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

/** The text that the echo tool of the server returns. */
export async function echo(runtime: Runtime, text = 'hi', server = 'web'): Promise<string> {
  const result = await runtime.callTool(server, 'echo', { text });
  const [part] = result.content;
  return part !== undefined && 'text' in part ? String(part.text) : '';
}
