/** Heights of lines across a chart, from 0: at most five, at round numbers, the last at or above `most`. */
export function ticksOf(most: number, steps: readonly number[] = decimalSteps): number[] {
  const step = steps.find((one) => most / one <= 4) ?? Math.ceil(most / 4)
  return Array.from({ length: Math.max(1, Math.ceil(most / step)) + 1 }, (_, index) => index * step)
}

const decimalSteps = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat()

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000] as const
/** Round durations in milliseconds. */
export const durationSteps = [
  ...[100, 500, second, 2 * second, 5 * second, 10 * second, 30 * second],
  ...[minute, 2 * minute, 5 * minute, 10 * minute, 30 * minute],
  ...[hour, 2 * hour, 6 * hour, 12 * hour],
  ...[1, 2, 5, 7, 14, 30, 60, 90, 180, 365, 730].map((days) => days * day),
]

/** Every how many periods a label fits below the chart. */
export const labelEvery = (count: number, width: number, labelWidth = 56) =>
  Math.max(1, Math.ceil((count * labelWidth) / Math.max(width, 1)))
