/** The vault of the person who runs the command: passphrases are asked for on a terminal, warnings shown. */
import { createVault, TurnbuckleError, type Vault } from 'turnbuckle';
import type { CommandContext } from './command.js';
import { stateDirectoryOf } from './state-directory-of.js';
import { showMessage } from './untrusted-text.js';

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
      return output.ask(() => (why === 'open' ? askOld() : askNew()));
    },
    onWarning: (message) => output.warn(`${output.color.yellow('warning')} ${showMessage(message)}`),
  });
}

const SHORTEST = 8;

async function askOld(): Promise<string> {
  const { askHidden } = await import('./ask.js');
  return askHidden('Passphrase of the vault');
}

async function askNew(): Promise<string> {
  const { askHidden } = await import('./ask.js');
  const first = await askHidden('New passphrase', (answer) =>
    answer.length < SHORTEST ? `At least ${SHORTEST} characters` : undefined,
  );
  const second = await askHidden('The same again');
  if (first === second) return first;
  throw new TurnbuckleError('ARGUMENTS_INVALID', 'The two passphrases are not the same.', {
    hint: 'Nothing was changed. Try again.',
  });
}
