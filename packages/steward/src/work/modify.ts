/** Changes the entry of a server in the user's file, after a person has seen the difference. */
import { editServers, type ServerEdit } from 'turnbuckle/host';
import type { RequestParams } from '../requests/request.js';
import type { Step, StepContext } from '../workers/step.js';
import { askPerson } from './ask.js';
import { applyChanges, checkChanged } from './check-change.js';
import { readConfiguration, requireOwnFile, requireServer } from './configured-server.js';
import { diffEntries } from './entry-diff.js';
import type { WorkServices } from './services.js';

type Entry = Readonly<Record<string, unknown>>;

interface ModifyData {
  readonly before?: Entry;
  readonly after?: Entry;
}

const approve: Step<WorkServices> = {
  name: 'approve',
  run: async (context) => {
    const { request, services } = context;
    const { serverName, changes } = request.params as RequestParams<'modify_server'>;
    const server = requireServer(await readConfiguration(services), serverName);
    requireOwnFile(server, services);
    const before = server.entry;
    const after = applyChanges(before, changes);
    checkChanged(serverName, after);
    const diff = diffEntries(before, after);
    if (diff.length === 0) return { done: { serverName, diff } };
    const approval = askPerson(context, {
      step: 'approve',
      subject: {
        action: 'modify',
        server: serverName,
        summary: `Changing server "${serverName}"`,
        details: diff,
        warnings: [],
      },
    });
    return approval === undefined ? { waitFor: 'approval' } : { data: { before, after } };
  },
};

const apply: Step<WorkServices> = {
  name: 'apply',
  run: async (context) => {
    const { serverName, before, after } = await readChange(context);
    checkChanged(serverName, after);
    await write(context, after);
    return { done: { serverName, diff: diffEntries(before, after) } };
  },
  undo: async (context) => {
    const { before } = context.data as ModifyData;
    if (before !== undefined) await write(context, before);
  },
};

async function readChange({ request, data }: StepContext<WorkServices>) {
  const { serverName } = request.params as RequestParams<'modify_server'>;
  const { before = {}, after = {} } = data as ModifyData;
  return { serverName, before, after };
}

/** Key by key, so that comments and layout stay. */
async function write({ request, services }: StepContext<WorkServices>, entry: Entry): Promise<void> {
  const { serverName: name } = request.params as RequestParams<'modify_server'>;
  const current = requireServer(await readConfiguration(services), name);
  requireOwnFile(current, services);
  const keys = new Set([...Object.keys(current.entry), ...Object.keys(entry)]);
  const edits = [...keys]
    .filter((key) => JSON.stringify(current.entry[key]) !== JSON.stringify(entry[key]))
    .map((key): ServerEdit => ({ action: 'set-key', name, key: [key], value: entry[key] }));
  if (edits.length > 0) await editServers(services.work.configFile, edits);
}

export const MODIFY_STEPS: ReadonlyArray<Step<WorkServices>> = [approve, apply];
