/** A runtime for one command: the configuration in effect, nothing started, everything ended with it. */
import {
  type Approve,
  type ConfiguredOptions,
  type ConfiguredRuntime,
  createConfiguredRuntime,
  type ServerRequestAnswers,
  TurnbuckleError,
} from 'turnbuckle';
import { abortReason, type LoadedConfig, loadConfiguration, untilAborted } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { showLine, showMessage } from '../terminal/untrusted-text.js';
import { createInputPrompts } from './ask-inputs.js';
import { currentRoots } from './current-roots.js';
import { stateDirectoryOf } from './state-directory.js';

/** Where to look for configuration, from the flags and the environment. */
export function configurationOptions(context: CommandContext): ConfiguredOptions {
  const { flags, environment, output } = context;
  return {
    environment,
    files: flags.config as readonly string[] | undefined,
    extra: new Map(((flags['mcp-server'] as readonly string[] | undefined) ?? []).map(parseServerFlag)),
    trustProject: flags['trust-project'] === true,
    askInput: output.interactive ? createInputPrompts(context) : undefined,
    approve: output.interactive ? lazyApprover(context) : undefined,
    vault: async () => (await import('./command-vault.js')).commandVault(context),
    stateDir: stateDirectoryOf(context),
  };
}

/** A call that has to be asked for is put to the person; what that takes is loaded when the first one comes. */
function lazyApprover(context: CommandContext): Approve {
  let approving: Promise<Approve> | undefined;
  return async (request, signal) => {
    approving ??= import('../approvals/approve-in-terminal.js').then(({ createTerminalApprover }) =>
      createTerminalApprover(context),
    );
    return (await approving)(request, signal);
  };
}

/** The configuration, and warnings of what is wrong with the files unless the command shows that itself. */
export async function loadCommandConfig(
  context: CommandContext,
  { warn = true, refuse = warn }: { readonly warn?: boolean; readonly refuse?: boolean } = {},
): Promise<LoadedConfig> {
  const config = await loadConfiguration(configurationOptions(context));
  if (refuse) rejectUnreadable(context, config, RUN_SCOPES);
  if (warn) warnOfProblems(context, config);
  return config;
}

/** Files named for this run. */
const RUN_SCOPES: readonly LayerScope[] = ['flags', 'environment'];
const REQUIRED_SCOPES: readonly LayerScope[] = [...RUN_SCOPES, 'user'];

/**
 * A file that cannot be read is not an empty one: its servers would be missing, and its rules would not hold. Throws
 * for one of these scopes; of others, where nothing else is left.
 */
function rejectUnreadable(
  context: CommandContext,
  config: LoadedConfig,
  scopes: readonly LayerScope[],
): void {
  const broken = config.layers.filter(({ unusable }) => unusable);
  const refused = broken.find(({ layer }) => scopes.includes(layer.scope) || config.servers.size === 0);
  const [problem] = refused?.problems ?? [];
  if (problem === undefined) return;
  warnOfProblems(context, { ...config, problems: config.problems.filter((one) => one !== problem) });
  throw problem;
}

type LayerScope = LoadedConfig['layers'][number]['layer']['scope'];

const warnedOutputs = new WeakSet<CommandContext['output']>();

/** Once, however often a command loads it. */
export function warnOfProblems({ output }: CommandContext, { problems }: LoadedConfig): void {
  if (warnedOutputs.has(output)) return;
  warnedOutputs.add(output);
  for (const { message } of problems)
    output.warn(`${output.color.yellow('warning')} ${showMessage(message)}`);
}

/**
 * Runs the work with a runtime and closes it, also when interrupted. Warns of what is wrong with the files.
 * `answers` are for what servers ask; roots are answered anyway, to those that may ask.
 */
export async function withRuntime<T>(
  context: CommandContext,
  work: (configured: ConfiguredRuntime) => Promise<T>,
  { warn = true, answers }: { readonly warn?: boolean; readonly answers?: ServerRequestAnswers } = {},
): Promise<T> {
  const handlers = { roots: currentRoots, ...answers };
  const [configured, { recordOwnCalls }] = await Promise.all([
    createConfiguredRuntime({ ...configurationOptions(context), handlers }),
    import('./record-calls.js'),
  ]);
  // What a command writes to the log has no secret of any server, whether it connects to that one or not.
  await configured.secretsLearned();
  const stopRecording = recordOwnCalls(context, configured);
  configured.runtime.on('approval.lost', ({ tool, error }) => {
    const why = error instanceof Error ? error.message : String(error);
    context.output.warn(
      `${context.output.color.yellow('warning')} The approval of ${showLine(tool)} was not saved: ${showMessage(why)}`,
    );
  });
  try {
    if (warn) rejectUnreadable(context, configured.config(), REQUIRED_SCOPES);
    if (warn) warnOfProblems(context, configured.config());
    return await untilAborted(() => work(configured), context.signal, abortReason);
  } finally {
    await configured.runtime.close();
    await stopRecording();
  }
}

/** `name=https://…` or `name=command with arguments`. */
function parseServerFlag(text: string): [string, Record<string, unknown>] {
  const cut = text.indexOf('=');
  const name = text.slice(0, cut);
  const rest = text.slice(cut + 1).trim();
  if (cut <= 0 || rest === '') {
    throw new TurnbuckleError('CONFIG_INVALID', `Invalid --mcp-server "${text}".`, {
      hint: 'Use --mcp-server name=https://… or --mcp-server "name=command arguments".',
    });
  }
  if (/^(https?|wss?):\/\//.test(rest)) return [name, { url: rest }];
  const [command = '', ...args] = splitShellWords(rest);
  return [name, { command, args }];
}

/** Splits words like a shell, without running one: quotes group, a backslash escapes. */
export function splitShellWords(text: string): string[] {
  const words = [...text.matchAll(/(?:"((?:\\.|[^"\\])*)"|'([^']*)'|((?:\\.|[^\s"'\\])+))+/g)].map(
    ([whole]) => whole,
  );
  return words.map((word) =>
    word.replace(
      /"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/g,
      (_all, ...[double, single, escaped]: Array<string | undefined>) =>
        double?.replace(/\\(.)/g, '$1') ?? single ?? escaped ?? '',
    ),
  );
}
