import { jsonSchema } from 'turnbuckle';
export async function run({ output }) {
  output.data(jsonSchema());
}
//# sourceMappingURL=schema.js.map
