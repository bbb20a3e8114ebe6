/** What is looked at before an entry is written: the same as for `turnbuckle add`, and what only a request can get wrong. */
import { createRuntime, readFileText, type ServersInput, TurnbuckleError } from 'turnbuckle';

/** What stands where a value was not shown. */
const REDACTED = '[redacted]';
const DEEPEST = 32;

type Entry = Readonly<Record<string, unknown>>;

/** CONFIG_INVALID or ARGUMENTS_INVALID for an entry that could not be used as it is; nothing is started. */
export async function checkEntry(name: string, entry: Entry): Promise<void> {
  if (entry.server !== undefined || entry.type === 'in-process')
    throw unfit(name, 'a server in this process cannot come from outside', 'Give a command or an address.');
  await checkCommand(name, entry);
  // What is wrong with it is what is asked here.
  const servers = Object.fromEntries([[name, entry]]) as unknown as ServersInput;
  const runtime = await createRuntime({ servers });
  const [status] = runtime.status();
  await runtime.close();
  if (status?.error !== undefined) throw status.error;
  // Last: by now there is only so much of it to look through.
  if (holds(entry, REDACTED))
    throw unfit(
      name,
      'it holds the mark of a value that was not shown',
      'Leave keys out that you do not change, or give them their value.',
    );
}

/** What is easily mistyped, and would only be told as a program that is not there. */
async function checkCommand(name: string, { command, args }: Entry): Promise<void> {
  if (typeof command !== 'string') return;
  if (/^[a-z][\w+.-]*:\/\//i.test(command))
    throw unfit(name, 'its command is an address', 'An address belongs under the key "url".');
  const isAlone = !Array.isArray(args) || args.length === 0;
  if (isAlone && /\s/.test(command.trim()) && !(await isFile(command)))
    throw unfit(
      name,
      'its command has several words, and there is no program of that name',
      'Put the words behind the program into "args".',
    );
}

/** Whether it is there, whatever is in it: within the time that a drive may take to say so. */
const isFile = (path: string): Promise<boolean> =>
  readFileText(path, { maxBytes: 0 }).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code === 'EFBIG',
  );

function holds(value: unknown, text: string, depth = 0): boolean {
  if (typeof value === 'string') return value.includes(text);
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return false;
  return Object.values(value).some((part) => holds(part, text, depth + 1));
}

const unfit = (server: string, why: string, hint: string): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `Server "${server}" cannot be written like that: ${why}.`, {
    server,
    hint,
  });
