/** Validation messages are plain English, at every depth. */
import { describeIssue } from 'turnbuckle/issue-text';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';

const SCHEMA = z.strictObject({
  action: z.enum(['allow', 'ask', 'deny']),
  name: z.string(),
  list: z.optional(z.array(z.string())),
  inside: z.optional(z.strictObject({ servers: z.optional(z.int()), tools: z.optional(z.boolean()) })),
});

const messagesFor = (value: unknown): string[] =>
  (z.safeParse(SCHEMA, value, { error: describeIssue }).error?.issues ?? []).map(({ message }) => message);

describe('a fault', () => {
  it.each([
    [{ action: 'alow', name: 'x' }, 'expected "allow", "ask" or "deny"'],
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
