import { text } from 'node:stream/consumers';
import { TurnbuckleError } from 'turnbuckle';
import { secretKey } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { nearestWord } from '../command-line/nearest-word.js';
import { requirePositional } from '../command-line/positionals.js';
import { commandVault } from '../session/command-vault.js';
import { textTable } from '../terminal/text-table.js';
import { formatTimestamp } from '../terminal/time-format.js';
import { showLine } from '../terminal/untrusted-text.js';

const ACTIONS: Readonly<Record<string, (context: CommandContext) => Promise<void>>> = {
  set: setSecret,
  list: listSecrets,
  ls: listSecrets,
  rm: removeSecret,
  rotate: rotateKey,
};
/** Words of users who want to read a secret; close to other subcommands. */
const READ_WORDS: ReadonlySet<string> = new Set(['get', 'show', 'read', 'view', 'print', 'cat', 'reveal']);
const VAULT_PREFIX = secretKey('');
const KEY_SOURCES = ['keychain', 'file', 'passphrase'] as const;
const KEY_LOCATIONS = {
  keychain: 'in the keychain',
  file: 'in a file next to the vault',
  passphrase: 'derived from your passphrase',
} as const;

export async function run(context: CommandContext): Promise<void> {
  const word = requirePositional(context, 0, 'subcommand (set, list, rm or rotate)');
  const action = Object.hasOwn(ACTIONS, word) ? ACTIONS[word] : undefined;
  if (action !== undefined) return action(context);
  if (READ_WORDS.has(word))
    throw new TurnbuckleError('ARGUMENTS_INVALID', 'Stored secrets cannot be shown.', {
      hint: "Use a secret as ${secret:name} in a server's configuration. List the names: turnbuckle secrets list",
    });
  const close = nearestWord(word, Object.keys(ACTIONS));
  throw new TurnbuckleError('ARGUMENTS_INVALID', `Unknown subcommand: expected set, list, rm or rotate.`, {
    hint: close === undefined ? usage(context) : `Did you mean "turnbuckle secrets ${close}"?`,
  });
}

async function setSecret(context: CommandContext): Promise<void> {
  const { output } = context;
  const name = nameOf(context);
  const value = await readValue(context, name);
  await commandVault(context).set(`${VAULT_PREFIX}${name}`, value);
  if (output.json) return output.data({ set: name });
  output.line(`Secret stored. Use it as \${secret:${showLine(name, 128)}} in the configuration.`);
}

async function listSecrets({ output, ...context }: CommandContext): Promise<void> {
  const vault = commandVault({ output, ...context });
  const secrets = (await vault.list())
    .filter(({ name }) => name.startsWith(VAULT_PREFIX))
    .map(({ name, updatedAt }) => ({ name: name.slice(VAULT_PREFIX.length), updatedAt }));
  const key = await vault.keySource();
  if (output.json) return output.data({ file: vault.file, key, secrets });
  if (secrets.length === 0) return output.note('No secrets. Add one: turnbuckle secrets set <name>');
  for (const line of textTable(
    secrets.map(({ name, updatedAt }) => [
      showLine(name, 60),
      formatTimestamp(Date.parse(updatedAt)).slice(0, 16),
    ]),
  ))
    output.line(line);
  if (key !== undefined)
    output.note(output.color.dim(`Stored in ${vault.file}. The encryption key is ${KEY_LOCATIONS[key]}.`));
}

async function removeSecret(context: CommandContext): Promise<void> {
  const { output } = context;
  const name = nameOf(context);
  const vault = commandVault(context);
  if (!(await vault.delete(`${VAULT_PREFIX}${name}`))) {
    const names = (await vault.list()).map((one) => one.name).filter((one) => one.startsWith(VAULT_PREFIX));
    const close = nearestWord(`${VAULT_PREFIX}${name}`, names)?.slice(VAULT_PREFIX.length);
    throw new TurnbuckleError('ARGUMENTS_INVALID', `There is no secret "${name}".`, {
      hint: close === undefined ? 'List the names: turnbuckle secrets list' : `Did you mean "${close}"?`,
    });
  }
  if (output.json) return output.data({ removed: name });
  output.line(`Removed ${showLine(name, 128)}`);
}

async function rotateKey(context: CommandContext): Promise<void> {
  const { output, flags, positionals } = context;
  if (positionals.length > 1) throw tooManyArguments(context);
  const to = KEY_SOURCES.find((source) => source === flags.to);
  if (flags.to !== undefined && to === undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `Invalid --to "${String(flags.to)}".`, {
      hint: `Choose one of: ${KEY_SOURCES.join(', ')}`,
    });
  const current = await commandVault(context).keySource();
  const vault = commandVault(context, { newPassphrase: (to ?? current) === 'passphrase' });
  const rotated = await vault.rotate(to);
  if (output.json) return output.data({ rotated });
  output.line(`The vault has a new key, which is ${KEY_LOCATIONS[rotated.to]}. The old key is deleted.`);
}

/** The name in `${secret:name}`. */
function nameOf(context: CommandContext): string {
  const name = requirePositional(context, 1, 'secret name');
  if (context.positionals.length > 2 || name.includes('=')) throw tooManyArguments(context);
  if (/^[^\p{C}\s{}:][^\p{C}{}]{0,127}$/u.test(name) && name === name.trim()) return name;
  throw new TurnbuckleError('ARGUMENTS_INVALID', 'Invalid secret name.', {
    hint: 'Use at most 128 characters, without braces or control characters.',
  });
}

/** Does not repeat the arguments: one of them may be the secret. */
function tooManyArguments(context: CommandContext): TurnbuckleError {
  if (context.positionals[0] !== 'set')
    return new TurnbuckleError('ARGUMENTS_INVALID', 'Unexpected argument.', { hint: usage(context) });
  return new TurnbuckleError('ARGUMENTS_INVALID', 'Secrets cannot be passed as arguments.', {
    hint: 'The value would be visible to other processes and in your shell history. Omit the value to be prompted, or pipe it in: turnbuckle secrets set <name> < file',
  });
}

const usage = ({ command }: CommandContext): string =>
  `usage: turnbuckle ${command.name} ${command.arguments}`;

/** Typed unseen on a terminal, else all of stdin without the line break at its end. */
async function readValue({ output }: CommandContext, name: string): Promise<string> {
  if (output.interactive) {
    const { askHidden } = await import('../terminal/ask.js');
    return askHidden(`Value of ${showLine(name, 128)}`, (answer) =>
      answer === '' ? 'It is empty' : undefined,
    );
  }
  const value = process.stdin.isTTY ? '' : (await text(process.stdin)).replace(/\r?\n$/, '');
  if (value !== '') return value;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `No value for secret "${name}".`, {
    hint: 'Run the command in a terminal to be prompted, or pipe the value in: turnbuckle secrets set <name> < file',
  });
}
