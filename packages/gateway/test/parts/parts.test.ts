import { openWorkDatabase } from '@turnbuckle/store';
import { waitUntil } from '@turnbuckle/testing';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { readJson } from '../../src/http/validate.js';
import { createPart, type DaemonPart, type PartContext } from '../../src/parts/part.js';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';

type NoteEvents = { 'notes.added': { readonly text: string } };

const BODY = z.strictObject({ text: z.string() });
const STEPS = ['CREATE TABLE notes (text TEXT NOT NULL)'];

/** A small part: it keeps notes in the database, and tells about each. */
function notesPart(seen: { closed: boolean; context?: PartContext<NoteEvents> }): DaemonPart {
  return createPart<NoteEvents>({
    name: 'notes',
    events: ['notes.added'],
    start: async (context) => {
      seen.context = context;
      const database = await openWorkDatabase({ file: context.workFile, part: 'notes', steps: STEPS });
      const added = context.metrics.counter('turnbuckle_notes_total', 'Notes added.');
      return {
        routes: [
          {
            method: 'POST',
            path: '/api/notes',
            access: 'admin',
            summary: 'Add a note',
            body: BODY,
            response: z.object({ count: z.number() }),
            handle: async (request) => {
              const { text } = await readJson(request, BODY);
              database.transaction(() => database.prepare('INSERT INTO notes VALUES (?)').run(text));
              added.add();
              context.publish('notes.added', { text });
              const [row] = database.prepare('SELECT count(*) AS count FROM notes').all();
              return { count: Number(row?.count) };
            },
          },
        ],
        close: async () => {
          seen.closed = true;
          database.close();
        },
      };
    },
  });
}

let own: OwnDaemon | undefined;
afterEach(async () => {
  await own?.close();
  own = undefined;
});

describe('a part of the daemon', () => {
  it('has routes with the same authentication, in the same document', async () => {
    const seen = { closed: false };
    own = await ownDaemon({}, { parts: [notesPart(seen)] });
    expect((await own.post('/api/notes', { text: 'one' }, 'wrong')).status).toBe(401);
    const { status, body } = await own.post('/api/notes', { text: 'one' });
    expect({ status, body }).toEqual({ status: 200, body: { count: 1 } });
    expect((await own.post('/api/notes', { text: 5 })).status).toBe(422);
    const document = (await (await own.fetch('/openapi.json')).json()) as { paths: object };
    expect(Object.keys(document.paths)).toContain('/api/notes');
    expect(await (await own.fetch('/metrics')).text()).toContain('turnbuckle_notes_total 1');
    await own.close();
    own = undefined;
    expect(seen.closed).toBe(true);
  });

  it('has events in the same stream, without secrets, for admin tokens that may see everything', async () => {
    own = await ownDaemon({}, { parts: [notesPart({ closed: false })] });
    const made = await own.post('/api/tokens', { name: 'narrow', can: ['mcp:x'], access: ['read', 'admin'] });
    const reading = await own.post('/api/tokens', {
      name: 'prometheus',
      can: ['mcp_integration'],
      access: ['read'],
    });
    const open = async (token?: string): Promise<() => string> => {
      const response = await own?.fetch('/api/events?types=notes.*', token === undefined ? {} : { token });
      expect(response?.status).toBe(200);
      let text = '';
      void (async () => {
        for await (const part of response?.body?.pipeThrough(new TextDecoderStream()) ?? []) text += part;
      })().catch(() => {});
      return () => text;
    };
    const [all, narrow] = [await open(), await open(String(made.body.token))];
    const reader = await open(String(reading.body.token));
    await own.post('/api/notes', { text: `hello ${own.daemon.token}` });
    await waitUntil(() => all().includes('notes.added'));
    expect(all()).toContain('hello');
    expect(all()).not.toContain(own.daemon.token);
    for (const other of [narrow, reader]) expect(other()).not.toContain('notes.added');
    const unknown = await own.fetch('/api/events?types=nots.*');
    expect(unknown.status).toBe(422);
    expect(await unknown.text()).toContain('notes.added');
  });

  it('that cannot start is reported, and the daemon runs without it', async () => {
    const failing: DaemonPart = {
      name: 'broken',
      events: [],
      start: async () => {
        throw new Error('no disk');
      },
    };
    const seen = { closed: false };
    own = await ownDaemon({}, { parts: [failing, notesPart(seen)] });
    expect((await own.post('/api/notes', { text: 'one' })).status).toBe(200);
    const { incidents } = (await (await own.fetch('/api/incidents')).json()) as {
      incidents: { text: string }[];
    };
    expect(incidents.map(({ text }) => text).join()).toContain('the part "broken" was starting');
  });

  it('learns that the configuration has changed', async () => {
    const seen: { closed: boolean; context?: PartContext<NoteEvents> } = { closed: false };
    own = await ownDaemon({}, { parts: [notesPart(seen)] });
    let changes = 0;
    const stop = seen.context?.onConfigChanged(() => {
      changes += 1;
    });
    own.configure({ naming: 'server_tool' });
    await waitUntil(() => changes > 0);
    stop?.();
  });
});
