/** Tests an entry in quarantine, with the tools of all configured servers as names that it must not take. */
import { type TestedTool, toTestedTools } from 'turnbuckle/host';
import type { TestReport } from '../quarantine/report.js';
import { testServer } from '../quarantine/test-server.js';
import { valuesFor } from './secret-values.js';
import type { WorkServices } from './services.js';

export interface EntryTest {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
  /** Where its package is installed. */
  readonly directory?: string | undefined;
  readonly signal: AbortSignal;
}

export interface TestedEntry {
  readonly report: TestReport;
  /** What was tested. */
  readonly tested: readonly TestedTool[];
}

export async function testEntry(
  { name, entry, directory, signal }: EntryTest,
  services: Pick<WorkServices, 'work' | 'vault' | 'environment'>,
): Promise<TestedEntry> {
  let tested: readonly TestedTool[] = [];
  // A remote server, and a package that is downloaded when it starts, need the network.
  const allowNetwork = directory === undefined;
  const report = await testServer({
    name,
    entry,
    environment: await valuesFor(entry, services),
    stateDir: services.work.stateDir,
    sandbox: 'where-available',
    allowNetwork,
    signal,
    ...(directory !== undefined && { directory }),
    existing: services.work.existing.filter(({ server }) => server !== name),
    onTools: (tools) => {
      tested = toTestedTools(tools);
    },
  });
  return { report, tested };
}
