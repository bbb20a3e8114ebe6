import { parseArgs } from 'node:util';

/**
 * The command line options of a bare server. `era: both` also answers 2026-07-28 requests; the server appends one
 * line per process start to `startsFile`.
 * @returns {{ tools: number, outputSchemas: boolean, era: 'legacy' | 'both', startsFile: string | undefined }}
 */
export function parseSettings() {
  const { values } = parseArgs({
    options: {
      tools: { type: 'string', default: '1' },
      'output-schemas': { type: 'boolean', default: false },
      era: { type: 'string', default: 'legacy' },
      'starts-file': { type: 'string' },
    },
  });
  return {
    tools: Number(values.tools),
    outputSchemas: values['output-schemas'],
    era: values.era === 'both' ? 'both' : 'legacy',
    startsFile: values['starts-file'],
  };
}
