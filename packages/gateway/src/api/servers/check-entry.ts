/** Checks an entry before it is written: like `turnbuckle add`, plus mistakes that only a request can contain. */
import { createRuntime, TurnbuckleError } from 'turnbuckle';
import { readFileText, type ServersInput } from 'turnbuckle/host';

/** The placeholder for a redacted value. */
const REDACTED = '[redacted]';
const MAX_DEPTH = 32;

type Entry = Readonly<Record<string, unknown>>;

/** CONFIG_INVALID or ARGUMENTS_INVALID for an unusable entry; nothing is started. */
export async function checkEntry(name: string, entry: Entry): Promise<void> {
  if (entry.server !== undefined || entry.type === 'in-process')
    throw invalidEntry(name, 'an in-process server cannot be added by a request', 'Set "command" or "url".');
  await checkCommand(name, entry);
  // The entry is untyped: its problems are what this checks.
  const servers = Object.fromEntries([[name, entry]]) as unknown as ServersInput;
  const runtime = await createRuntime({ servers });
  const [status] = runtime.status();
  await runtime.close();
  if (status?.error !== undefined) throw status.error;
  // Last: by now its size is bounded.
  if (containsText(entry, REDACTED))
    throw invalidEntry(
      name,
      'it contains the placeholder "[redacted]"',
      'Omit the keys that you do not want to change, or send their real values.',
    );
}

/** Common mistakes that would otherwise only fail as a missing program. */
async function checkCommand(name: string, { command, args }: Entry): Promise<void> {
  if (typeof command !== 'string') return;
  if (/^[a-z][\w+.-]*:\/\//i.test(command))
    throw invalidEntry(name, 'its "command" is a URL', 'Move the URL to the key "url".');
  const isAlone = !Array.isArray(args) || args.length === 0;
  if (isAlone && /\s/.test(command.trim()) && !(await isFile(command)))
    throw invalidEntry(
      name,
      'its "command" contains spaces, and no program has that name',
      'Move everything after the program name to "args".',
    );
}

/** Whether the file exists, within the time limit for a slow drive. */
const isFile = (path: string): Promise<boolean> =>
  readFileText(path, { maxBytes: 0 }).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code === 'EFBIG',
  );

function containsText(value: unknown, text: string, depth = 0): boolean {
  if (typeof value === 'string') return value.includes(text);
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false;
  return Object.values(value).some((part) => containsText(part, text, depth + 1));
}

const invalidEntry = (server: string, why: string, hint: string): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `Invalid configuration for server "${server}": ${why}.`, {
    server,
    hint,
  });
