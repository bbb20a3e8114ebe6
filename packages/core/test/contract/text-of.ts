/** The text of a result that has one. */
export function textOf(result: { readonly content?: readonly unknown[] | undefined }): string {
  const [part] = result.content ?? [];
  return typeof part === 'object' && part !== null && 'text' in part ? String(part.text) : '';
}
