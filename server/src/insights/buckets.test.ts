import fc from 'fast-check'
import { expect, test } from 'vitest'
import { verifies } from '../../test/harness.ts'
import { type Buckets, count, durations, type Measure, shortest } from './buckets.ts'

/** The nearest rank. */
const exact = (values: readonly number[], share: number) =>
  [...values].sort((one, other) => one - other)[Math.ceil(share * values.length) - 1] as number

const counted = (measure: Measure, values: readonly number[]) =>
  durations(measure, values.reduce<Buckets | null>((buckets, ms) => count(buckets, measure, ms), null) ?? [])

test('medians and 90th percentiles lie within 19 % of the exact values', verifies('insight.durations'), () => {
  for (const measure of Object.keys(shortest) as Measure[]) {
    const longest = shortest[measure] * 2 ** 24 - 1
    const value = fc.double({ min: Math.log(shortest[measure]), max: Math.log(longest), noNaN: true }).map(Math.exp)
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 300 }), (values) => {
        const result = counted(measure, values)
        expect(result?.count).toBe(values.length)
        for (const [share, found] of [
          [0.5, result?.p50_ms],
          [0.9, result?.p90_ms],
        ] as const) {
          // Half a millisecond is from rounding the answer.
          const off = Math.abs((found as number) - exact(values, share)) - 0.5
          expect(off / exact(values, share)).toBeLessThanOrEqual(0.19)
        }
      }),
    )
  }
})

test('without a value there is no duration; with one it is both quantiles', verifies('insight.durations'), () => {
  expect(counted('lead_time', [])).toBeNull()
  expect(durations('lead_time', new Array(48).fill(0))).toBeNull()
  const one = counted('lead_time', [3_600_000])
  expect(one).toEqual({ count: 1, p50_ms: one?.p90_ms, p90_ms: one?.p90_ms })
})

test('durations beyond the buckets count in the first and in the last', () => {
  const [none, least] = [counted('answer_time', [0]), counted('answer_time', [1000])]
  expect(none).toEqual(least)
  const [decades, most] = [counted('answer_time', [1e15]), counted('answer_time', [1000 * 2 ** 24 - 1])]
  expect(decades).toEqual(most)
})
