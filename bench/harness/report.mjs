import { ours } from '../subjects.mjs';
import { summarise } from './measurements.mjs';

/** @param {number} value */
const toNumber = (value) => (Number.isFinite(value) ? value.toFixed(value < 0.1 ? 3 : 2) : '–');

/** @param {import('../figures.mjs').Figure['bound']} bound */
function toBoundText(bound) {
  if ('atMost' in bound) return `<= ${bound.atMost.toFixed(2)}`;
  return 'atLeast' in bound ? `>= ${bound.atLeast.toFixed(2)}` : `=  ${bound.exactly.toFixed(2)}`;
}

/** @param {import('../figures.mjs').Figure['bound']} bound @param {number} value */
function isKept(bound, value) {
  if ('atMost' in bound) return value <= bound.atMost;
  return 'atLeast' in bound ? value >= bound.atLeast : value === bound.exactly;
}

/** @param {number} value @param {string} unit */
function toQuantity(value, unit) {
  if (!Number.isFinite(value)) return '–';
  return `${value >= 100 ? Math.round(value) : value.toPrecision(3)} ${unit}`.trim();
}

/**
 * Compares a figure with its bound; `short` also if it could not be measured.
 * @param {import('../figures.mjs').Figure} figure
 * @param {import('./measurements.mjs').Measurements} measurements
 */
export function judge(figure, measurements) {
  const summary =
    figure.against === 'itself'
      ? summarise(measurements.valuesOf(figure.id, ours.id))
      : measurements.ratioOf(figure.id, ours.id, figure.against);
  const failed =
    measurements.reasonOf(figure.id, ours.id) ?? measurements.reasonOf(figure.id, figure.against);
  // One extra start in any round is a failure: counts are not averaged.
  const value =
    figure.against === 'itself' && ['starts', 'cycles'].includes(figure.unit)
      ? summary.greatest
      : summary.median;
  const kept = failed === undefined && isKept(figure.bound, value);
  return {
    id: figure.id,
    name: figure.name,
    value,
    low: summary.low,
    high: summary.high,
    rounds: summary.rounds,
    bound: figure.bound,
    verdict: kept ? 'ok' : 'short',
    ...(failed === undefined ? {} : { failed }),
  };
}

/** @param {ReturnType<typeof judge>} judged */
export function toFigureLine({ name, value, low, high, rounds, bound, verdict, failed }) {
  const spread = rounds > 0 ? `  (middle half ${toNumber(low)} to ${toNumber(high)}, ${rounds} rounds)` : '';
  const reason = failed === undefined ? '' : `  ${failed}`;
  return `${name.padEnd(50)} ${toNumber(value).padStart(6)}  ${toBoundText(bound)}  ${verdict.padEnd(5)}${spread}${reason}`;
}

/**
 * The ratio of every subject to the first one, whose row has absolute values.
 * @param {readonly import('../figures.mjs').Figure[]} columns
 * @param {readonly { id: string, label: string }[]} subjects
 * @param {import('./measurements.mjs').Measurements} measurements
 */
export function toTable(columns, subjects, measurements) {
  const [base] = subjects;
  if (base === undefined || columns.length === 0) return [];
  return subjects.map(({ id, label }) => ({
    id,
    label,
    cells: columns.map((figure) => {
      const { median: value } = summarise(measurements.valuesOf(figure.id, id));
      const { median: ratio } = measurements.ratioOf(figure.id, id, base.id);
      const failed = measurements.reasonOf(figure.id, id);
      return { figure: figure.id, heading: figure.column, unit: figure.unit, value, ratio, failed };
    }),
  }));
}

/** @param {ReturnType<typeof toTable>} rows @param {string} kind */
export function toTableLines(rows, kind) {
  const [first] = rows;
  if (first === undefined) return [];
  const toCell = (id, { value, unit, ratio, failed }) => {
    if (failed !== undefined) return 'failed';
    return id === first.id ? toQuantity(value, unit) : toNumber(ratio);
  };
  const lines = [
    [kind, ...first.cells.map(({ heading }) => heading ?? '')],
    ...rows.map(({ id, label, cells }) => [label, ...cells.map((cell) => toCell(id, cell))]),
  ];
  const widths = first.cells.map((_, index) =>
    Math.max(...lines.map((line) => line[index + 1]?.length ?? 0)),
  );
  return lines.map(([label = '', ...cells]) =>
    [label.padEnd(24), ...cells.map((cell, index) => cell.padStart(widths[index] ?? 0))].join('  '),
  );
}
