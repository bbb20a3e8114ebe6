import fc from 'fast-check';
import { type ParseError, parse } from 'jsonc-parser';
import { expect, it } from 'vitest';
import { listServers, removeServer, setKey, setServer } from '../../src/config/edit/edit-servers.js';
import {
  type CommentedFile,
  type Contents,
  type Form,
  type Json,
  writeCommentedFile,
} from './commented-file.js';

const NAMES = ['files', 'web', 'a.b', '', '日本', '__proto__', 'constructor'];
const OTHERS = ['naming', 'limits', 'x y', '$schema'];

const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, true, 0, -1.5, '', '// no comment', '/* nor this */ "', '\u2028\ud800'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('k', 'l', 'm', 'n'), tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

const config = fc.record(
  {
    command: fc.constantFrom<Json>('node', 'npx'),
    args: fc.array(fc.constantFrom<Json>('-y', 'p', '{', '//'), { maxLength: 5 }),
    env: fc.dictionary(fc.constantFrom('A', 'B', 'C'), fc.constantFrom('1', ', }'), {
      noNullPrototype: true,
    }),
    enabled: fc.boolean(),
    extra: json,
  },
  { requiredKeys: [], noNullPrototype: true },
);

const named = fc.constantFrom(...NAMES);
const contents: fc.Arbitrary<Contents> = fc.record({
  servers: fc.dictionary(named, config, { noNullPrototype: true }),
  others: fc.dictionary(fc.constantFrom(...OTHERS), json, { noNullPrototype: true }),
});

type Step =
  | { readonly kind: 'set'; readonly name: string; readonly config: Record<string, Json> }
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'key'; readonly key: string; readonly value: Json | undefined };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), name: named, config }),
  fc.record({ kind: fc.constant('remove' as const), name: named }),
  fc.record({
    kind: fc.constant('key' as const),
    key: fc.constantFrom(...OTHERS),
    value: fc.option(json, { nil: undefined }),
  }),
);

function apply(text: string, edit: Step): string {
  if (edit.kind === 'set') return setServer(text, edit.name, edit.config);
  return edit.kind === 'remove' ? removeServer(text, edit.name) : setKey(text, [edit.key], edit.value);
}

interface Model {
  readonly servers: Map<string, Json>;
  readonly others: Map<string, Json>;
}

function applyToModel({ servers, others }: Model, edit: Step): void {
  if (edit.kind === 'set') servers.set(edit.name, edit.config);
  else if (edit.kind === 'remove') servers.delete(edit.name);
  else if (edit.value === undefined) others.delete(edit.key);
  else others.set(edit.key, edit.value);
}

/** The content as a reader sees it, in the order of the model; fails if it is not JSON with comments. */
function readModel(text: string, form: Form): { servers: unknown; others: unknown } {
  const errors: ParseError[] = [];
  const whole: Record<string, unknown> = parse(text.replace(/^\uFEFF/, ''), errors, {
    allowTrailingComma: true,
  });
  expect(errors, text).toEqual([]);
  const servers = listServers(text).map(({ name, entry }) => {
    const { name: _, id: __, ...config } = entry as Record<string, unknown>;
    return [name, config];
  });
  const key = form === 'mcpServers' ? form : 'servers';
  return { servers, others: Object.entries(whole).filter(([name]) => name !== key) };
}

function expectUntouchedKept(file: CommentedFile, result: string, steps: readonly Step[]): void {
  const touched = steps.map((edit) => (edit.kind === 'key' ? edit.key : edit.name));
  const places = ['servers', 'mcpServers'];
  const kept = file.comments.filter(({ about: [first, second] }) =>
    first !== undefined && places.includes(first)
      ? second === undefined || !touched.includes(second)
      : first === undefined || !touched.includes(first),
  );
  let from = 0;
  for (const { text } of kept) {
    const at = result.indexOf(text, from);
    expect(
      at,
      `${text} lost or moved\n--- before\n${file.text}\n--- after\n${result}`,
    ).toBeGreaterThanOrEqual(from);
    from = at + text.length;
  }
}

it('random edits of random files match the model and keep every comment of unedited entries', () => {
  fc.assert(
    fc.property(
      contents,
      fc.array(step, { minLength: 1, maxLength: 8 }),
      fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
      (start, steps, numbers) => {
        const file = writeCommentedFile(start, () => numbers.next().value ?? 0);
        const model: Model = {
          servers: new Map(Object.entries(start.servers)),
          others: new Map(Object.entries(start.others)),
        };
        let text = file.text;
        for (const edit of steps) {
          text = apply(text, edit);
          applyToModel(model, edit);
          expect(readModel(text, file.form), text).toEqual({
            servers: [...model.servers],
            others: [...model.others],
          });
        }
        expect(text.startsWith('\uFEFF')).toBe(file.text.startsWith('\uFEFF'));
        expect(/[\r\n]$/.test(text)).toBe(/[\r\n]$/.test(file.text));
        if (file.text.includes('\r\n')) expect(text.replaceAll('\r\n', '')).not.toContain('\n');
        expectUntouchedKept(file, text, steps);
      },
    ),
    { numRuns: Number(process.env.TURNBUCKLE_EDIT_RUNS ?? 1_000) },
  );
});

const bare = (text: string): string => text.replaceAll(/[ \t\r\n]/g, '');

it('adding and removing a server leaves the file unchanged, except for white space', () => {
  fc.assert(
    fc.property(
      contents,
      config,
      fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
      (start, added, numbers) => {
        fc.pre(Object.keys(start.servers).length > 0);
        const { text } = writeCommentedFile(start, () => numbers.next().value ?? 0);
        expect(bare(removeServer(setServer(text, 'added', added), 'added'))).toBe(bare(text));
      },
    ),
    { numRuns: 500 },
  );
});
