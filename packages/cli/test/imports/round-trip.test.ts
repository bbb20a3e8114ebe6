// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are texts here
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TURNBUCKLE_STYLE } from '../../src/imports/entries/placeholders.js';
import { parseText } from '../../src/imports/formats/parse-text.js';
import { generic } from '../../src/imports/generic-client.js';
import { CLIENTS, readClientConfig, writeClientConfig } from '../../src/imports/index.js';
import { formatOf } from '../../src/imports/read-client-config.js';
import { expressibleServers, serverName } from './expressible-servers.js';
import { FIXTURES } from './fixture-table.js';
import { readFixture } from './read-fixture.js';

const writable = [...CLIENTS, generic].filter(({ format }) => format !== 'frontmatter');
const targets = [
  ...writable.map((client) => ({ id: client.id, client, into: 'nothing' })),
  ...FIXTURES.flatMap(({ client: id, file }) =>
    writable.filter((client) => client.id === id).map((client) => ({ id, client, into: file })),
  ),
];

/** Texts that are placeholders in other clients, and invalid placeholders in our own syntax. */
const awkward = fc.constantFrom(
  '$',
  '$HOME',
  '$(date)',
  '{env:X}',
  '{file:x}',
  '$${A}',
  '}',
  '${',
  '$env:X',
  '${{ secrets.X }}',
  '${A:-${B}}',
  '${file}',
  '${env:}',
  'x',
  ' ',
);
const awkwardText = fc.array(awkward, { maxLength: 3 }).map((parts) => parts.join(''));

describe.each(targets)('$id, written into $into', ({ id, client, into }) => {
  const before = into === 'nothing' ? undefined : readFixture(into);
  const parsed = parseText(before ?? '', formatOf(client, undefined));
  const dialect = client.dialectOf?.('value' in parsed ? parsed.value : undefined) ?? client.dialect;
  const kept = before === undefined ? [] : readClientConfig(id, before).servers;

  it('reads back exactly what was written, and keeps the other servers', () => {
    const servers = fc.uniqueArray(fc.tuple(serverName, expressibleServers(client, dialect)), {
      minLength: 1,
      maxLength: 3,
      selector: ([name]) => name,
    });
    fc.assert(
      fc.property(servers, (random) => {
        const outgoing = random.map(([name, config]) => ({ name: `t-${name}`, config }));
        const written = writeClientConfig(id, before, outgoing);
        expect(written).toMatchObject({ notes: [], skipped: [], problems: [] });
        const again = readClientConfig(id, written.text ?? '');
        const found = new Map(again.servers.map(({ name, config }) => [name, config]));
        for (const { name, config } of [...kept, ...outgoing]) expect(found.get(name), name).toEqual(config);
        expect(found.size).toBe(kept.length + outgoing.length);
        expect(writeClientConfig(id, written.text, outgoing).text).toBe(written.text);
      }),
      { numRuns: 60 },
    );
  });

  it('never changes the meaning of a text without a note', () => {
    fc.assert(
      fc.property(awkwardText, (text) => {
        const outgoing = [{ name: 'x-y', config: { type: 'stdio' as const, command: 'node', args: [text] } }];
        const written = writeClientConfig(id, before, outgoing);
        const again = readClientConfig(id, written.text ?? '').servers.find(({ name }) => name === 'x-y');
        if (written.notes.length === 0)
          expect(again?.config.args?.map(TURNBUCKLE_STYLE.parse)).toEqual([TURNBUCKLE_STYLE.parse(text)]);
      }),
      { numRuns: 100 },
    );
  });
});
