/** A runtime for one command: the configuration in effect, nothing started, everything ended with it. */
import { createConfiguredRuntime, loadConfiguration, TurnbuckleError } from 'turnbuckle';
/** Where to look for configuration, from the flags and the environment. */
export function configurationOptions({ flags, environment, output }) {
  const stateDir = environment.TURNBUCKLE_STATE_DIR;
  return {
    environment,
    files: flags.config,
    extra: new Map((flags['mcp-server'] ?? []).map(parseServerFlag)),
    trustProject: flags['trust-project'] === true,
    askInput: output.interactive
      ? async (id, declared) => (await import('./ask.js')).askInput(id, declared)
      : undefined,
    ...(stateDir !== undefined && { stateDir }),
  };
}
export const loadCommandConfig = (context) => loadConfiguration(configurationOptions(context));
/** Runs the work with a runtime and closes it, also when interrupted. */
export async function withRuntime(context, work) {
  const configured = await createConfiguredRuntime(configurationOptions(context));
  for (const problem of configured.config().problems)
    context.output.note(`${context.output.color.yellow('warning')} ${problem.message}`);
  const interrupted = new Promise((_, reject) =>
    context.signal.addEventListener('abort', () => reject(context.signal.reason), { once: true }),
  );
  try {
    return await Promise.race([work(configured), interrupted]);
  } finally {
    await configured.runtime.close();
  }
}
/** `name=https://…` or `name=command with arguments`. */
function parseServerFlag(text) {
  const cut = text.indexOf('=');
  const name = text.slice(0, cut);
  const rest = text.slice(cut + 1).trim();
  if (cut <= 0 || rest === '') {
    throw new TurnbuckleError('CONFIG_INVALID', `--mcp-server "${text}" is not understood.`, {
      hint: 'Write name=https://address or name=command arguments.',
    });
  }
  if (/^(https?|wss?):\/\//.test(rest)) return [name, { url: rest }];
  const [command = '', ...args] = splitWords(rest);
  return [name, { command, args }];
}
/** Words as a shell would see them, without ever asking a shell: quotes group, a backslash escapes. */
export function splitWords(text) {
  const words = [...text.matchAll(/(?:"((?:\\.|[^"\\])*)"|'([^']*)'|((?:\\.|[^\s"'\\])+))+/g)].map(
    ([whole]) => whole,
  );
  return words.map((word) =>
    word.replace(
      /"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/g,
      (_all, double, single, escaped) => double?.replace(/\\(.)/g, '$1') ?? single ?? escaped ?? '',
    ),
  );
}
//# sourceMappingURL=open.js.map
