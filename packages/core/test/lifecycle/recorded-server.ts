import { existsSync, readFileSync, rmSync } from 'node:fs';
import { fixture, type TemporaryDirectory } from '@turnbuckle/testing';

type FixtureName = Parameters<typeof fixture>[0];

/** A fixture behind a shell that records each start and all its input. */
export function recordedServer(directory: TemporaryDirectory, name: FixtureName, ...flags: string[]) {
  const { command, args } = fixture(name, ...flags);
  const [starts, wire] = [directory.file('starts'), directory.file('wire')];
  const quoted = [command, ...args].map((word) => `'${word}'`).join(' ');
  const read = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  return {
    config: { command: 'sh', args: ['-c', `echo start >> '${starts}'; tee -a '${wire}' | ${quoted}`] },
    /** The same without a copy of the input: the process ends with the server. */
    bare: { command: 'sh', args: ['-c', `echo start >> '${starts}'; exec ${quoted}`] },
    /** How often it was started, and whether it got an era probe, since the last call of this function. */
    takeNotes(): { starts: number; probed: boolean } {
      const notes = {
        starts: read(starts).split('\n').length - 1,
        probed: read(wire).includes('"server/discover"'),
      };
      for (const file of [starts, wire]) rmSync(file, { force: true });
      return notes;
    },
  };
}
