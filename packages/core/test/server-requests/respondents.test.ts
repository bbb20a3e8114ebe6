import { describe, expect, it } from 'vitest';
import { type Respondent, Respondents } from '../../src/connection/respondents.js';

const respondent = (more: Partial<Respondent> = {}): Respondent => ({
  capabilities: {},
  answers: {},
  ...more,
});

describe('what a server says without naming a call', () => {
  it('is for nobody, or for the only one', () => {
    const all = new Respondents();
    expect(all.only).toBeUndefined();
    const one = respondent();
    all.add(one);
    all.add(one);
    expect(all.only).toBe(one);
    all.remove(one);
    expect(all.only).toBe(one);
    all.remove(one);
    expect(all.only).toBeUndefined();
  });

  it('is for nobody where it could be for two', () => {
    const all = new Respondents();
    const [one, other] = [respondent(), respondent()];
    all.add(one);
    all.add(other);
    expect(all.only).toBeUndefined();
    all.remove(other);
    expect(all.only).toBe(one);
  });

  it('is for a session whose calls are the only ones: the latest that does not wait', () => {
    const all = new Respondents();
    const session = {};
    const first = respondent({ session });
    const waiting = respondent({ session, isWaiting: () => true });
    all.add(first);
    all.add(waiting);
    expect(all.only).toBe(first);
    all.add(respondent({ session: {} }));
    expect(all.only).toBeUndefined();
  });
});
