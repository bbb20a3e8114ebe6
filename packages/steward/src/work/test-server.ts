/** The request to test a configured server. It changes nothing. */
import type { RequestParams } from '../requests/request.js';
import type { Step } from '../workers/step.js';
import { readConfiguration, requireServer, requireUsable } from './configured-server.js';
import type { WorkServices } from './services.js';
import { testEntry } from './test-entry.js';

const test: Step<WorkServices> = {
  name: 'test',
  run: async ({ request, signal, progress, services }) => {
    const { serverName } = request.params as RequestParams<'test_server'>;
    const server = requireServer(await readConfiguration(services), serverName);
    requireUsable(server);
    const { entry } = server;
    progress(20, `Testing server "${serverName}" in quarantine.`);
    const { report } = await testEntry({ name: serverName, entry, signal }, services);
    return { done: { serverName, report } };
  },
};

export const TEST_STEPS: ReadonlyArray<Step<WorkServices>> = [test];
