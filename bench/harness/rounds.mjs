import { ours, reference } from '../subjects.mjs';
import { shuffle } from './statistics.mjs';

/**
 * The input of a suite.
 * @typedef {object} RunContext
 * @property {number} rounds
 * @property {readonly import('../subjects.mjs').Subject[]} subjects
 * @property {readonly import('../gateways.mjs').Gateway[]} gateways
 * @property {(gateway: import('../gateways.mjs').Gateway, reason: string) => void} reportMissing
 * @property {(figure: string) => boolean} wants
 * @property {import('./measurements.mjs').Measurements} measurements
 * @property {string} scratchDirectory emptied when the run ends
 * @property {(line: string) => void} note
 * @property {string} [beside] the subject that is measured next to ours; without it, the raw SDK
 */

// The peers are only for context: where each sample needs a new process, they get fewer rounds.
const peerRounds = 3;

/**
 * The subjects of one round in random order, with ours and the one it is compared with side by side.
 * @template {{ id: string }} T
 * @param {readonly T[]} subjects
 * @param {string} [other]
 * @returns {T[]}
 */
export function toRoundOrder(subjects, other = reference.id) {
  const isBounded = (subject) => subject.id === other || subject.id === ours.id;
  const pair = shuffle(subjects.filter(isBounded));
  return shuffle([pair, ...subjects.filter((subject) => !isBounded(subject))]).flat();
}

/**
 * Takes one sample per subject and round, each in its own process; skips a subject after a failure.
 * @param {RunContext} context
 * @param {string} figure
 * @param {(subject: import('../subjects.mjs').Subject) => Promise<number>} sample
 */
export async function sampleFresh(context, figure, sample) {
  const { measurements } = context;
  const taking = context.subjects.filter((subject) => !subject.informative);
  for (let round = 0; round < context.rounds; round++) {
    for (const subject of toRoundOrder(taking, context.beside)) {
      if (subject.peer !== undefined && round >= peerRounds) continue;
      if (measurements.reasonOf(figure, subject.id) !== undefined) continue;
      try {
        measurements.record({ figure, subject: subject.id, round, value: await sample(subject) });
      } catch (error) {
        measurements.fail({ figure, subject: subject.id, error });
      }
    }
  }
}
