import { text } from 'node:stream/consumers';
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { commandVault } from '../command-vault.js';
import { nearestWord } from '../nearest-word.js';
import { textTable } from '../text-table.js';
import { showMoment } from '../time-words.js';
import { showLine } from '../untrusted-text.js';
import { needWord } from '../words.js';

const ACTIONS: Readonly<Record<string, (context: CommandContext) => Promise<void>>> = {
  set: setSecret,
  list: listSecrets,
  ls: listSecrets,
  rm: removeSecret,
  rotate: rotateKey,
};
/** What somebody writes who wants to see one: near to another word, and meant otherwise. */
const READING: ReadonlySet<string> = new Set(['get', 'show', 'read', 'view', 'print', 'cat', 'reveal']);
const PREFIX = 'secret/';
const SOURCES = ['keychain', 'file', 'passphrase'] as const;
const PLACES = {
  keychain: 'in the keychain',
  file: 'in a file beside it',
  passphrase: 'made of your passphrase',
} as const;

export async function run(context: CommandContext): Promise<void> {
  const word = needWord(context, 0, 'action (set, list, rm or rotate)');
  const action = Object.hasOwn(ACTIONS, word) ? ACTIONS[word] : undefined;
  if (action !== undefined) return action(context);
  if (READING.has(word))
    throw new TurnbuckleError('ARGUMENTS_INVALID', 'A secret is never shown again once it is kept.', {
      hint: 'turnbuckle secrets list shows the names. A server gets the value by ${secret:name} in its configuration.',
    });
  const close = nearestWord(word, Object.keys(ACTIONS));
  throw new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `Secrets can be set, listed, removed and rotated, not that.`,
    {
      hint: close === undefined ? usage(context) : `Did you mean "turnbuckle secrets ${close}"?`,
    },
  );
}

async function setSecret(context: CommandContext): Promise<void> {
  const { output } = context;
  const name = nameOf(context);
  const value = await readValue(context, name);
  await commandVault(context).set(`${PREFIX}${name}`, value);
  if (output.json) return output.data({ set: name });
  output.line(`Kept. Write \${secret:${showLine(name, 128)}} where it belongs.`);
}

async function listSecrets({ output, ...context }: CommandContext): Promise<void> {
  const vault = commandVault({ output, ...context });
  const secrets = (await vault.list())
    .filter(({ name }) => name.startsWith(PREFIX))
    .map(({ name, updatedAt }) => ({ name: name.slice(PREFIX.length), updatedAt }));
  const key = await vault.keySource();
  if (output.json) return output.data({ file: vault.file, key, secrets });
  if (secrets.length === 0)
    return output.note('There are no secrets yet. Add one: turnbuckle secrets set <name>');
  for (const line of textTable(
    secrets.map(({ name, updatedAt }) => [
      showLine(name, 60),
      showMoment(Date.parse(updatedAt)).slice(0, 16),
    ]),
  ))
    output.line(line);
  if (key !== undefined) output.note(output.color.dim(`In ${vault.file}; its key is ${PLACES[key]}.`));
}

async function removeSecret(context: CommandContext): Promise<void> {
  const { output } = context;
  const name = nameOf(context);
  const vault = commandVault(context);
  if (!(await vault.delete(`${PREFIX}${name}`))) {
    const names = (await vault.list()).map((one) => one.name).filter((one) => one.startsWith(PREFIX));
    const close = nearestWord(`${PREFIX}${name}`, names)?.slice(PREFIX.length);
    throw new TurnbuckleError('ARGUMENTS_INVALID', `There is no secret "${name}".`, {
      hint: close === undefined ? 'turnbuckle secrets list shows what there is.' : `Did you mean "${close}"?`,
    });
  }
  if (output.json) return output.data({ removed: name });
  output.line(`Removed ${showLine(name, 128)}`);
}

async function rotateKey(context: CommandContext): Promise<void> {
  const { output, flags, words } = context;
  if (words.length > 1) throw tooMany(context);
  const to = SOURCES.find((source) => source === flags.to);
  if (flags.to !== undefined && to === undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `--to "${String(flags.to)}" is no place for a key.`, {
      hint: `Choose one of: ${SOURCES.join(', ')}`,
    });
  const current = await commandVault(context).keySource();
  const vault = commandVault(context, { newPassphrase: (to ?? current) === 'passphrase' });
  const rotated = await vault.rotate(to);
  if (output.json) return output.data({ rotated });
  output.line(`The vault has a new key, ${PLACES[rotated.to]}. The old one is gone.`);
}

/** What stands in `${secret:name}`. */
function nameOf(context: CommandContext): string {
  const name = needWord(context, 1, 'name of the secret');
  if (context.words.length > 2 || name.includes('=')) throw tooMany(context);
  if (/^[^\p{C}\s{}:][^\p{C}{}]{0,127}$/u.test(name) && name === name.trim()) return name;
  throw new TurnbuckleError('ARGUMENTS_INVALID', 'That cannot be the name of a secret.', {
    hint: 'Up to 128 characters, without braces and control characters.',
  });
}

/** Says nothing of the words: one of them may be the secret. */
function tooMany(context: CommandContext): TurnbuckleError {
  if (context.words[0] !== 'set')
    return new TurnbuckleError('ARGUMENTS_INVALID', 'There is one word too many.', { hint: usage(context) });
  return new TurnbuckleError('ARGUMENTS_INVALID', 'A secret is not taken from the command line.', {
    hint: 'There every process of this machine can read it, and your shell remembers it. Leave it out to be asked, or pipe it in: turnbuckle secrets set <name> < file',
  });
}

const usage = ({ command }: CommandContext): string =>
  `usage: turnbuckle ${command.name} ${command.arguments}`;

/** Typed unseen on a terminal, else all of stdin without the line break at its end. */
async function readValue({ output }: CommandContext, name: string): Promise<string> {
  if (output.interactive) {
    const { askHidden } = await import('../ask.js');
    return askHidden(`Value of ${showLine(name, 128)}`, (answer) =>
      answer === '' ? 'It is empty' : undefined,
    );
  }
  const value = process.stdin.isTTY ? '' : (await text(process.stdin)).replace(/\r?\n$/, '');
  if (value !== '') return value;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `There is no value for the secret "${name}".`, {
    hint: 'Run it in a terminal to be asked, or pipe the value in: turnbuckle secrets set <name> < file',
  });
}
