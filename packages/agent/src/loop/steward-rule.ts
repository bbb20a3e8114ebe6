/**
 * What happens to the work of the steward when energy is low. Below LOW_LEVEL the setting `lowEnergy` decides. In the lower
 * half below 0 it becomes one step stricter, so that the energy can always recover.
 */
import type { LowEnergyWay } from '../settings/agent-settings.js';

export type StewardAction = 'continue' | 'pause' | 'cancel' | 'resume';

export interface StewardFacts {
  readonly level: number;
  readonly floor: number;
  readonly hasWork: boolean;
  /** The agent has paused it, and not resumed it yet. */
  readonly isPaused: boolean;
  readonly way: LowEnergyWay;
}

export const LOW_LEVEL = 10;
/** It is resumed above this: not at once, or it would be paused and resumed all the time. */
export const RESUME_LEVEL = 20;

const STRICTER: Readonly<Record<LowEnergyWay, LowEnergyWay>> = {
  finish: 'pause',
  pause: 'cancel',
  cancel: 'cancel',
};

export function decideSteward({ level, floor, hasWork, isPaused, way }: StewardFacts): StewardAction {
  if (isPaused && level >= RESUME_LEVEL) return 'resume';
  if (level >= LOW_LEVEL || !hasWork) return 'continue';
  const effective = level <= floor / 2 ? STRICTER[way] : way;
  if (effective === 'finish' || (effective === 'pause' && isPaused)) return 'continue';
  return effective;
}
