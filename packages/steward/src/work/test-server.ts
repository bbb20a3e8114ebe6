/** The request to test a configured server. It changes nothing. */
import type { RequestParams } from '../requests/request.js';
import type { Step } from '../workers/step.js';
import { readConfiguration, requireServer, requireStartable, requireUsable } from './configured-server.js';
import type { WorkServices } from './services.js';
import { testEntry } from './test-entry.js';

const test: Step<WorkServices> = {
  name: 'test',
  run: async ({ request, signal, progress, services }) => {
    const { serverName } = request.params as RequestParams<'test_server'>;
    const configuration = await readConfiguration(services);
    const server = requireServer(configuration, serverName);
    requireUsable(server);
    requireStartable(server, configuration);
    const { entry } = server;
    progress(20, `Testing server "${serverName}" in quarantine.`);
    const { report } = await testEntry({ name: serverName, entry, signal }, services);
    return { done: { serverName, report } };
  },
};

export const TEST_STEPS: ReadonlyArray<Step<WorkServices>> = [test];
