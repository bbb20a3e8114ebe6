/** The steps of every kind of request: the module that worker processes load. */
import type { StepTable } from '../workers/step.js';
import { ADD_STEPS } from './add.js';
import { MODIFY_STEPS } from './modify.js';
import { REMOVE_STEPS } from './remove.js';
import { SEARCH_STEPS } from './search.js';
import { createWorkServices, type WorkServices } from './services.js';
import { TEST_STEPS } from './test-server.js';

export const steps: StepTable<WorkServices> = {
  add_server: ADD_STEPS,
  remove_server: REMOVE_STEPS,
  test_server: TEST_STEPS,
  search_servers: SEARCH_STEPS,
  modify_server: MODIFY_STEPS,
};

export const createServices = createWorkServices;
