import type { ApprovalRequest } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import {
  alsoSentLines,
  factLines,
  titleOf,
  truncationLines,
  wrapIndented,
} from '../../src/approvals/approval-lines.js';
import { displayWidth } from '../../src/terminal/display-width.js';

const REQUEST: ApprovalRequest = {
  id: '6f1c',
  requestId: 'k3v9x1-42',
  kind: 'tool',
  server: 'tracker',
  tool: `x${' '.repeat(60)}Allow it?`,
  toolName: 'tracker_x',
  arguments: {},
  trusted: false,
  reason: `this run has read private data (files.${' '.repeat(80)}Allowed once.)`,
  answers: ['once', 'deny'],
  createdAt: '2026-01-31T12:00:00.000Z',
  expiresAt: '2026-01-31T12:02:00.000Z',
};

describe('an approval prompt', () => {
  it('fits the screen, and untrusted text never starts a line', () => {
    const lines = [...wrapIndented(titleOf(REQUEST, 'The owner'), 60, 4), ...factLines(REQUEST, 60)];
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(60);
    expect(lines.filter((line) => /^\S/.test(line))).toEqual([lines[0]]);
    expect(lines[0]).toMatch(/^The owner wants to call x/);
    expect(lines.join('').replace(/\s+/g, '')).toContain('Allowedonce.');
  });

  it('says how much is not shown, and shows what else is sent', () => {
    expect(truncationLines(REQUEST, 60)).toEqual([]);
    expect(alsoSentLines(REQUEST, 60)).toEqual([]);
    const cut = { ...REQUEST, isCut: true, notShown: { characters: 2_492, members: 1 } };
    expect(truncationLines(cut, 100)).toEqual([
      '  not shown    2492 characters and 1 value; the only way to allow this call is once',
    ]);
    const along = { ...REQUEST, alsoSent: { requestState: 'a\nb' } };
    expect(alsoSentLines(along, 60)).toEqual(['  │ requestState: 2 lines', '  │   ┊ a', '  │   ┊ b']);
  });
});
