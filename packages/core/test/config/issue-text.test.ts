/** Validation messages are plain English, at every depth. */
import { describeIssue } from 'turnbuckle/issue-text';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';

const SCHEMA = z.strictObject({
  action: z.enum(['allow', 'ask', 'deny']),
  name: z.string(),
  list: z.optional(z.array(z.string())),
  ms: z.optional(z.number().check(z.int(), z.gte(1_000), z.lte(65_535))),
  few: z.optional(z.array(z.string().check(z.minLength(1))).check(z.minLength(1), z.maxLength(2))),
  inside: z.optional(z.strictObject({ servers: z.optional(z.int()), tools: z.optional(z.boolean()) })),
});

const messagesFor = (value: unknown): string[] =>
  (z.safeParse(SCHEMA, value, { error: describeIssue }).error?.issues ?? []).map(({ message }) => message);

describe('a fault', () => {
  it.each([
    [{ action: 'alow', name: 'x' }, 'expected "allow", "ask" or "deny", found "alow"'],
    [{ action: 7, name: 'x' }, 'expected "allow", "ask" or "deny", found a number'],
    [
      { action: 'ask', name: 'x', inside: { servers: 1.5 } },
      'expected a whole number, found a number with a fraction',
    ],
    [{ action: 'ask', name: 'x', ms: 5 }, 'expected at least 1000'],
    [{ action: 'ask', name: 'x', ms: 70_000 }, 'expected at most 65535'],
    [{ action: 'ask', name: 'x', few: [] }, 'expected at least 1 entry'],
    [{ action: 'ask', name: 'x', few: ['a', 'b', 'c'] }, 'expected at most 2 entries'],
    [{ action: 'ask', name: 'x', few: [''] }, 'expected at least 1 character'],
    [{ action: 'ask' }, 'expected a string, found nothing'],
    [{ action: 'ask', name: null }, 'expected a string, found null'],
    [{ action: 'ask', name: 'x', list: 'y' }, 'expected a list, found a string'],
    [{ action: 'ask', name: 'x', inside: { servers: '5' } }, 'expected a number, found a string'],
    [{ action: 'ask', name: 'x', inside: { tools: 1 } }, 'expected true or false, found a number'],
    [{ action: 'ask', name: 'x', nam: 1 }, 'unknown key "nam" (did you mean "name"?)'],
    [{ action: 'ask', name: 'x', inside: { severs: 1 } }, 'unknown key "severs" (did you mean "servers"?)'],
  ])('%j results in %j', (value, text) => {
    expect(messagesFor(value)).toEqual([text]);
  });

  it('never repeats a value that may be a secret', () => {
    expect(messagesFor({ action: 'tbk_secret', name: 7, list: 'tbk_secret' }).join()).not.toContain(
      'tbk_secret',
    );
  });
});
