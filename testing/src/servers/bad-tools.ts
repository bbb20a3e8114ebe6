import { Flags } from '../kernel/flags.js';
import type { JsonObject } from '../kernel/json.js';
import { serve } from '../serve.js';
import { createBadTools, createOddTools } from '../tools/bad-tools.js';
import { createEchoTool } from '../tools/basic-tools.js';
import { createTool, toText } from '../tools/tool.js';

// Good tools (echo, good_first, good_last) among bad ones. --only <kind,…> keeps just those bad kinds.
const flags = new Flags();
const only = flags.text('only');

function isWanted(kind: string): boolean {
  return only === '' || only.split(',').includes(kind);
}

const entries: unknown[] = Object.entries({ ...createBadTools(), ...createOddTools() })
  .filter(([kind]) => isWanted(kind))
  .flatMap(([, definitions]) => definitions);

const first = createTool({ name: 'good_first', description: 'Good' }, () => toText('good_first'));
const last = createTool({ name: 'good_last', description: 'Good' }, () => toText('good_last'));
const callable = entries.filter((entry): entry is JsonObject => typeof entry === 'object' && entry !== null);

await serve(
  {
    name: 'bad-tools',
    tools: [
      createEchoTool(),
      first,
      last,
      ...callable.map((definition) => ({
        definition,
        run: () => toText(`called ${String(definition.name)}`),
      })),
    ],
    page: (listed) =>
      listed === 'tools'
        ? { items: [createEchoTool().definition, first.definition, ...entries, last.definition] }
        : undefined,
  },
  { flags },
);
