import { it } from 'vitest';
import { loseAnswers } from '../../packages/core/test/lifecycle/lost-answers.js';

const TIMES = Number(process.env.SOAK_LOSSES ?? 1_000);

it(`${TIMES} responses are lost after the effect: each call ends once, and no effect happens twice`, async () => {
  await Promise.all([loseAnswers(TIMES / 2, 'exit'), loseAnswers(TIMES / 2, 'kill')]);
});
