/** What to do about a command that cannot be started: it depends on whether the file is there. */
import { isAbsolute, resolve } from 'node:path';
import { factsOf } from '../config/read-file.js';

const ANYBODY_RUNS = 0o111;

/** For `directory` see `cwd`: what a path that is not absolute begins from. */
export async function commandHint(command: string, directory: string | undefined): Promise<string> {
  const isPath = /[\\/]/.test(command);
  if (!isPath) return `Install "${command}", or give its full path.`;
  const path = resolve(directory ?? process.cwd(), command);
  const facts = await factsOf(path);
  const orPlace = isAbsolute(command) ? '' : ', or say in "cwd" which directory it is in';
  if (facts === undefined)
    return `There is no file ${path}. Correct "command" in its configuration${orPlace}.`;
  if (facts.isDirectory()) return `${path} is a directory. Name the program in it.`;
  if ((facts.mode & ANYBODY_RUNS) !== 0)
    return 'The file is there: is the program in its first line (#!…) installed, and may you read the directories above it?';
  return `The file is there, and may not be run. Allow it: chmod +x ${path}. Or start it with its interpreter, as in node or python.`;
}
