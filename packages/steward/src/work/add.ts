/**
 * Adds a server: find it, ask a person, install exactly what was approved, test it in quarantine, and only then write
 * it to the config file. Each step is recorded; what is cancelled or fails leaves nothing behind.
 */
import { TurnbuckleError } from 'turnbuckle';
import { editServers, pinTestedTools, showLine, type TestedTool, unpinTestedTools } from 'turnbuckle/host';
import { type Installed, install } from '../install/install.js';
import { verifyInstalled } from '../install/install-directory.js';
import type { InstallPlan } from '../install/install-plan.js';
import { prepareInstall } from '../install/prepare-install.js';
import { isRefusal } from '../install/refusal.js';
import { showPlan } from '../install/show-plan.js';
import type { TestReport } from '../quarantine/report.js';
import type { RequestParams } from '../requests/request.js';
import type { Step, StepContext } from '../workers/step.js';
import { askedFields, expandAll, grantedBy } from './addition/field-answers.js';
import { forgetSecrets, newSecretScope, secretNamesOf, waitForSecrets } from './addition/own-secrets.js';
import { uninstallUnused } from './addition/package-use.js';
import { chooseServerName } from './addition/server-name.js';
import { askPerson, askPersonAgain, type Question } from './ask.js';
import type { ShownCandidate } from './candidates.js';
import { readConfiguration } from './configured-server.js';
import { findRecord } from './find-record.js';
import type { WorkServices } from './services.js';
import { testEntry } from './test-entry.js';

type Context = StepContext<WorkServices>;

/** What the steps leave for each other. */
interface AddData {
  readonly plan?: InstallPlan;
  readonly alternatives?: readonly ShownCandidate[];
  readonly modelReason?: string;
  readonly values?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly granted?: readonly string[];
  readonly installed?: Installed;
  readonly report?: TestReport;
  readonly tested?: readonly TestedTool[];
}

const dataOf = ({ data }: Context): AddData => data as AddData;

function required<Key extends keyof AddData>(context: Context, key: Key): NonNullable<AddData[Key]> {
  const value = dataOf(context)[key];
  if (value === undefined) throw new Error(`The previous step did not save "${key}".`);
  return value as NonNullable<AddData[Key]>;
}

const plan: Step<WorkServices> = {
  name: 'plan',
  run: async ({ request, signal, progress, services }) => {
    const params = request.params as RequestParams<'add_server'>;
    const { work, programs, npm, fetchPackages } = services;
    const options = {
      serverName: 'server',
      settings: work.install,
      programs,
      root: work.packageRoot,
      now: services.now(),
      sandbox: work.hasSandbox,
    };
    progress(10, 'Looking for the server in the registries.');
    const found = await findRecord(params, services, { plan: options, signal, progress });
    const { servers } = await readConfiguration(services);
    const serverName = chooseServerName(params.serverName, found.record.name, (name) => servers.has(name));
    progress(50, `Reading the published details of ${showLine(found.record.name)}.`);
    const { record, alternatives, verified, isDeprecated, similarTo, package: exact } = found;
    const planned = await prepareInstall(record, {
      ...options,
      serverName,
      secretScope: newSecretScope(),
      fetch: fetchPackages,
      npm,
      signal,
      verified,
      isDeprecated,
      ...(similarTo !== undefined && { similarTo }),
      ...(exact !== undefined && { package: exact }),
      ...(params.values !== undefined && { values: params.values }),
    });
    if (isRefusal(planned)) throw new TurnbuckleError('CALL_DENIED', planned.reason, { hint: planned.hint });
    return { data: { plan: planned, alternatives, modelReason: found.modelReason } };
  },
};

const SECRETS_LOST = 'the secrets of the first answer were lost when the daemon ended: give them again';

const approve: Step<WorkServices> = {
  name: 'approve',
  run: async (context) => {
    const planned = required(context, 'plan');
    const { serverName, identifier, version, integrity, shown } = planned;
    const { alternatives, modelReason } = dataOf(context);
    const { values: given = {} } = context.request.params as RequestParams<'add_server'>;
    const question: Question = {
      step: 'approve',
      subject: {
        action: 'install',
        server: serverName,
        summary: `Installing ${identifier} ${version} as server "${serverName}"`,
        details: [
          ...showPlan(planned, given),
          ...(integrity === undefined ? [] : [`integrity: ${integrity}`]),
          ...(modelReason === undefined ? [] : [`chosen by a model for this reason: ${modelReason}`]),
          ...(alternatives ?? []).map(({ name, description }) => `alternative: ${name}: ${description}`),
        ],
        warnings: shown.warnings,
      },
      fields: askedFields(planned, given),
    };
    const approval = askPerson(context, question);
    if (approval === undefined) return { waitFor: 'approval' };
    const { services, signal } = context;
    if (!(await waitForSecrets(planned.inputs, approval, { ...services, signal }))) {
      askPersonAgain(context, question, SECRETS_LOST);
      return { waitFor: 'approval' };
    }
    const { secrets = [] } = approval;
    const filled = { ...given, ...approval.values };
    return {
      data: {
        values: planned.server.type === 'stdio' ? expandAll(planned.inputs, filled, services) : filled,
        secrets,
        granted: await grantedBy(planned, approval.values ?? {}, services),
      },
    };
  },
  undo: async (context) => {
    const { inputs = [] } = dataOf(context).plan ?? {};
    await forgetSecrets(secretNamesOf(inputs), context.services);
  },
};

const installPackage: Step<WorkServices> = {
  name: 'install',
  run: async (context) => {
    const { signal, progress, services } = context;
    const { work, npm, programs, fetchPackages, environment } = services;
    const planned = required(context, 'plan');
    const { values, secrets, granted } = dataOf(context);
    progress(10, `Installing ${planned.identifier} ${planned.version}.`);
    const installed = await install(planned, {
      fetch: fetchPackages,
      npm,
      npmFile: programs.npm,
      now: services.now(),
      signal,
      settings: work.install,
      environment,
      values: onlyInputs(planned, values),
      secrets,
      granted,
    });
    return { data: { installed } };
  },
  undo: async (context) => {
    const { directory } = dataOf(context).plan ?? {};
    if (directory !== undefined) await uninstallUnused(directory, context.services);
  },
};

/** Values for inputs that the package does not have are ignored: a caller cannot know them before. */
function onlyInputs(
  { inputs }: InstallPlan,
  values: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const known = new Set(inputs.filter(({ isSecret }) => !isSecret).map(({ name }) => name));
  return Object.fromEntries(Object.entries(values).filter(([name]) => known.has(name)));
}

const test: Step<WorkServices> = {
  name: 'test',
  run: async (context) => {
    const { signal, progress, services } = context;
    const { serverName } = required(context, 'plan');
    const { entry, directory } = required(context, 'installed');
    progress(10, `Testing server "${serverName}" in quarantine.`);
    const { report, tested } = await testEntry({ name: serverName, entry, directory, signal }, services);
    if (report.verdict !== 'fail') return { data: { report, tested } };
    throw new TurnbuckleError(
      'RESULT_INVALID',
      `Server "${serverName}" failed its test: ${describeFindings(report)}`,
      { server: serverName, hint: 'The server was removed again. Choose another server or version.' },
    );
  },
};

const describeFindings = ({ findings, verdict }: TestReport): string =>
  findings
    .filter(({ level }) => level === verdict)
    .slice(0, 3)
    .map(({ where, text }) => `${where}: ${text}`)
    .join('; ');

/** A test with warnings is a second question: what was approved before did not have them. */
const confirm: Step<WorkServices> = {
  name: 'confirm',
  run: async (context) => {
    const { serverName } = required(context, 'plan');
    const report = required(context, 'report');
    if (report.verdict === 'pass') return {};
    const approval = askPerson(context, {
      step: 'confirm',
      subject: {
        action: 'enable',
        server: serverName,
        summary: `Enabling server "${serverName}", whose test has warnings`,
        details: report.tools.map(({ name }) => `tool: ${name}`),
        warnings: report.findings
          .filter(({ level }) => level !== 'note')
          .map(({ where, text }) => `${where}: ${text}`),
      },
    });
    return approval === undefined ? { waitFor: 'approval' } : {};
  },
};

const configure: Step<WorkServices> = {
  name: 'configure',
  run: async (context) => {
    const { services } = context;
    const { serverName, identifier, version } = required(context, 'plan');
    const { entry, directory, packageHash } = required(context, 'installed');
    const { servers } = await readConfiguration(services);
    // A worker may have been ended after it had written the entry.
    const present = servers.get(serverName)?.entry;
    const isWritten = JSON.stringify(present) === JSON.stringify(entry);
    // Nothing of that server may change, not even its pins.
    if (present !== undefined && !isWritten) throw nameTaken(serverName);
    if (!isWritten && directory !== undefined) await requireUnchanged(serverName, directory, packageHash);
    // Before its tools can be called: what the server shows from then on is compared with what was tested.
    if (!isWritten && services.work.pins !== 'off') {
      const { stateDir } = services.work;
      await pinTestedTools({ stateDir, server: serverName, now: services.now }, required(context, 'tested'));
    }
    if (!isWritten)
      await editServers(services.work.configFile, [{ action: 'add', name: serverName, config: entry }]);
    const report = required(context, 'report');
    const tools = report.tools.map(({ name }) => name);
    return {
      messages: [{ type: 'tool_available', data: { serverName, tools } }],
      done: { serverName, identifier, version, directory, packageHash, tools, report },
    };
  },
  undo: async (context) => {
    const { plan: planned, installed } = dataOf(context);
    if (planned === undefined || installed === undefined) return;
    const { serverName } = planned;
    const { stateDir, configFile } = context.services.work;
    const { servers } = await readConfiguration(context.services);
    const written = servers.get(serverName)?.entry;
    // An entry of that name that somebody else wrote is not touched.
    if (written !== undefined && JSON.stringify(written) !== JSON.stringify(installed.entry)) return;
    if (written !== undefined) await editServers(configFile, [{ action: 'remove', name: serverName }]);
    await unpinTestedTools({ stateDir, server: serverName });
  },
};

const nameTaken = (server: string): TurnbuckleError =>
  new TurnbuckleError(
    'NAME_TAKEN',
    `Server "${server}" was not added: meanwhile, another one has this name.`,
    {
      server,
      hint: 'Send the request again with another "serverName".',
    },
  );

/** A person may have taken days to answer since it was installed and tested. */
async function requireUnchanged(server: string, directory: string, packageHash: string): Promise<void> {
  const state = await verifyInstalled(directory, packageHash);
  if (state.unchanged) return;
  throw new TurnbuckleError('RESULT_INVALID', `Server "${server}" was not added: ${state.reason}.`, {
    server,
    hint: 'The server is no longer the one that was approved and tested. Send the request again.',
  });
}

export const ADD_STEPS: ReadonlyArray<Step<WorkServices>> = [
  plan,
  approve,
  installPackage,
  test,
  confirm,
  configure,
];
