import { type SignInPrompts, TurnbuckleError } from 'turnbuckle';
import { openBrowser, type SignInPage } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { requirePositional } from '../command-line/positionals.js';
import { agentFromFlags, forAgent } from '../session/agent-credentials.js';
import { withRuntime } from '../session/command-runtime.js';
import { unknownServer } from '../session/unknown-server.js';
import { showFullLine, showLine } from '../terminal/untrusted-text.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, flags, signal } = context;
  const server = requirePositional(context, 0, 'server');
  if (flags.device === true && flags.paste === true)
    throw new TurnbuckleError('ARGUMENTS_INVALID', '--device and --paste cannot be combined.', {
      hint: 'Use one of them.',
    });
  const method = flags.device === true ? 'device' : flags.paste === true ? 'paste' : 'browser';
  const agent = agentFromFlags(context);
  const scopes = typeof flags.scope === 'string' ? flags.scope.split(/[\s,]+/).filter(Boolean) : undefined;
  await withRuntime(context, async ({ runtime }) => {
    if (!runtime.serverNames().includes(server)) throw unknownServer(server, runtime.serverNames());
    const done = await runtime.signIn(server, {
      method,
      scopes,
      agent,
      force: flags.force === true,
      prompts: prompts(context),
      signal,
    });
    const status = await runtime.signInStatus(server, { agent });
    if (output.json) return output.data(status);
    const name = `${output.color.bold(showLine(server, 60))}${forAgent(agent)}`;
    if (done)
      output.line(`Signed in to ${name}${status.scope === undefined ? '' : ` (${showLine(status.scope)})`}`);
    else if (status.signedIn) output.line(`Already signed in to ${name}; use --force to sign in again`);
    else output.line(`${name} does not require sign-in`);
  });
}

function prompts({ output, flags }: CommandContext): SignInPrompts {
  const show = ({ server, agent, url }: SignInPage, what: string): void => {
    const where = `${showLine(server, 60)}${forAgent(agent)}`;
    output.warn(`${what.replace('<server>', () => where)}:\n\n  ${showFullLine(url)}\n`);
  };
  return {
    async open(page) {
      if (flags.paste === true || flags['no-browser'] === true)
        return show(page, 'To sign in to <server>, open this page');
      show(page, 'Opening this page to sign in to <server>');
      await openBrowser(page.url).catch(() => {
        output.note('Could not open a browser. Open the page yourself, or use --paste or --device.');
      });
    },
    async paste() {
      if (!output.interactive) return readLine();
      const { askText } = await import('../terminal/ask.js');
      return askText('Paste the URL that the browser was redirected to');
    },
    showCode(page) {
      show(page, 'To sign in to <server>, open this page on any device');
      output.warn(`and enter the code  ${output.color.bold(showLine(page.code, 60))}\n`);
    },
  };
}

/** In a pipe the address comes as the first line. */
async function readLine(): Promise<string> {
  const { createInterface } = await import('node:readline');
  for await (const line of createInterface({ input: process.stdin })) return line;
  return '';
}
