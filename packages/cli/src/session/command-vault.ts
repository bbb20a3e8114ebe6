/** The vault of the user: prompts for passphrases on a terminal and shows warnings. */
import { TurnbuckleError } from 'turnbuckle';
import { createVault, type Vault } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { showMessage } from '../terminal/untrusted-text.js';
import { stateDirectoryOf } from './state-directory.js';

export interface CommandVaultOptions {
  /** The command is about a new passphrase: it is asked for. */
  readonly newPassphrase?: boolean;
}

/** Nothing is read or asked before it is used. */
export function commandVault(
  { environment, output }: CommandContext,
  { newPassphrase = false }: CommandVaultOptions = {},
): Vault {
  return createVault({
    stateDir: stateDirectoryOf({ environment }),
    environment,
    passphrase: async (why) => {
      if (!output.interactive || (why === 'create' && !newPassphrase)) return undefined;
      return output.ask(() => (why === 'open' ? askPassphrase() : askNewPassphrase()));
    },
    onWarning: (message) => output.warn(`${output.color.yellow('warning')} ${showMessage(message)}`),
  });
}

const MIN_PASSPHRASE_LENGTH = 8;

async function askPassphrase(): Promise<string> {
  const { askHidden } = await import('../terminal/ask.js');
  return askHidden('Vault passphrase');
}

async function askNewPassphrase(): Promise<string> {
  const { askHidden } = await import('../terminal/ask.js');
  const first = await askHidden('New passphrase', (answer) =>
    answer.length < MIN_PASSPHRASE_LENGTH ? `Use at least ${MIN_PASSPHRASE_LENGTH} characters` : undefined,
  );
  const second = await askHidden('Repeat the passphrase');
  if (first === second) return first;
  throw new TurnbuckleError('ARGUMENTS_INVALID', 'The passphrases do not match.', {
    hint: 'Nothing was changed. Try again.',
  });
}
