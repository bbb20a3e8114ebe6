import { setImmediate as nextTurn } from 'node:timers/promises';
import { Flags } from '../kernel/flags.js';
import { serve } from '../serve.js';
import { createBasicTools } from '../tools/basic-tools.js';
import { createSleepTools } from '../tools/sleep-tools.js';

// A working stdio server that prints other text to stdout too. --junk takes a comma-separated list of the kinds
// below, or `all` (all but `split`, which only slows the others).
const KINDS = [
  'banner',
  'partial',
  'bom',
  'crlf',
  'blank',
  'not-rpc',
  'twice',
  'unknown-id',
  'split',
] as const;
type Kind = (typeof KINDS)[number];

const flags = new Flags();
const words = flags.text('junk', 'all').split(',');
const kinds = new Set<Kind>(
  KINDS.filter((kind) => words.includes(kind) || (words.includes('all') && kind !== 'split')),
);
const lineEnd = kinds.has('crlf') ? '\r\n' : '\n';

/** The junk of each kind that is written before a message. */
const BEFORE: Partial<Record<Kind, (text: string) => string>> = {
  blank: () => `${lineEnd}   ${lineEnd}`,
  partial: (text) => `${text.slice(0, Math.ceil(text.length / 2))}${lineEnd}`,
  'not-rpc': () => ['42', 'null', '"text"', '[]', '{"level":"info","id":1}', ''].join(lineEnd),
  'unknown-id': () =>
    ['"nobody-asked"', '999999', 'null']
      .map(
        (id) =>
          `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"wrong"}]}}${lineEnd}`,
      )
      .join(''),
};

let pending = Promise.resolve();
// Directly before the first message: as a separate line it would only be one more junk line.
let mark = kinds.has('bom') ? '\uFEFF' : '';

function put(text: string): void {
  const bytes = Buffer.from(text);
  if (!kinds.has('split')) return void process.stdout.write(bytes);
  pending = pending.then(async () => {
    for (const byte of bytes) {
      process.stdout.write(Uint8Array.of(byte));
      await nextTurn();
    }
  });
}

function write(text: string): void {
  for (const kind of kinds) put(BEFORE[kind]?.(text) ?? '');
  const isAnswer = /"(result|error)":/.test(text);
  put(mark);
  mark = '';
  put(`${text}${lineEnd}`.repeat(kinds.has('twice') && isAnswer ? 2 : 1));
}

if (kinds.has('banner')) put(`Fixture server 1.0 {starting} [ok]${lineEnd}Listening on stdio...${lineEnd}`);

await serve(
  { name: 'junk-on-stdout', tools: [...createBasicTools(), ...createSleepTools()] },
  { flags, write },
);
