/** Reads the text format as strictly as Prometheus does; throws on anything it would refuse. */
const SAMPLE =
  /^([a-zA-Z_:][\w:]*)(\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (NaN|[+-]Inf|-?[\d.]+(?:e[+-]?\d+)?)$/;

export function parseExposition(text: string): Map<string, number> {
  if (!text.endsWith('\n')) throw new Error('The last line has no end.');
  const numbers = new Map<string, number>();
  const announced = new Set<string>();
  for (const line of text.slice(0, -1).split('\n')) {
    const family = /^# TYPE (\S+) (counter|gauge|histogram|summary)$/.exec(line)?.[1];
    if (family !== undefined) {
      if (announced.has(family)) throw new Error(`${family} is announced twice.`);
      announced.add(family);
      continue;
    }
    if (/^# HELP \S+ .+$/.test(line)) continue;
    const [, name, labels = '', , value = ''] = SAMPLE.exec(line) ?? [];
    if (name === undefined) throw new Error(`This is no sample: ${line}`);
    if (!announced.has(name) && !announced.has(name.replace(/_(bucket|sum|count)$/, '')))
      throw new Error(`${name} was not announced.`);
    if (numbers.has(name + labels)) throw new Error(`${name}${labels} comes twice.`);
    numbers.set(name + labels, Number(value.replace('Inf', 'Infinity')));
  }
  return numbers;
}
