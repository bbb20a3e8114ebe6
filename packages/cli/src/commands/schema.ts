import { jsonSchema } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';

export async function run({ output }: CommandContext): Promise<void> {
  output.data(jsonSchema());
}
