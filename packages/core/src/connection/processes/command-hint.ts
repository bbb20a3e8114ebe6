/** Suggests how to fix a command that cannot be started, depending on whether the file exists. */
import { isAbsolute, resolve } from 'node:path';
import { statOrUndefined } from '../../files/read-file.js';

const EXECUTE_BITS = 0o111;

/** `directory` is the base of relative paths (see `cwd`). */
export async function commandHint(command: string, directory: string | undefined): Promise<string> {
  const isPath = /[\\/]/.test(command);
  if (!isPath) return `Install "${command}", or specify its full path.`;
  const path = resolve(directory ?? process.cwd(), command);
  const facts = await statOrUndefined(path);
  const orPlace = isAbsolute(command)
    ? ''
    : ', or set "cwd" to the directory that the command is relative to';
  if (facts === undefined)
    return `The file ${path} does not exist. Correct "command" in the server's configuration${orPlace}.`;
  if (facts.isDirectory()) return `${path} is a directory. Specify a program in this directory.`;
  if ((facts.mode & EXECUTE_BITS) !== 0)
    return 'The file exists. Check that the interpreter in its first line (#!…) is installed, and that you have access to the directories that contain the file.';
  return `The file exists but is not executable. Run chmod +x ${path}, or start the file with its interpreter, such as node or python.`;
}
