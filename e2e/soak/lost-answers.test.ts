import { it } from 'vitest';
import { loseAnswers } from '../../packages/core/test/lifecycle/lost-answers.js';

const TIMES = Number(process.env.SOAK_LOSSES ?? 1_000);

it(`${TIMES} answers lost between effect and answer: each call ends once, no effect is doubled`, async () => {
  await Promise.all([loseAnswers(TIMES / 2, 'exit'), loseAnswers(TIMES / 2, 'kill')]);
});
