import { expect, test } from 'vitest'
import { durationSteps, labelEvery, ticksOf } from './scale.ts'

test('lines of a chart are at round numbers and reach the highest value', () => {
  expect(ticksOf(0)).toEqual([0, 1])
  expect(ticksOf(1)).toEqual([0, 1])
  expect(ticksOf(7)).toEqual([0, 2, 4, 6, 8])
  expect(ticksOf(101)).toEqual([0, 50, 100, 150])
  for (const most of [3, 9, 44, 1234, 87_654_321]) {
    const ticks = ticksOf(most)
    expect(ticks.length).toBeLessThanOrEqual(5)
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(most)
  }
})

test('lines of durations are at round durations', () => {
  expect(ticksOf(95_000, durationSteps)).toEqual([0, 30_000, 60_000, 90_000, 120_000])
  expect(ticksOf(40 * 86_400_000, durationSteps)).toEqual([0, 14, 28, 42].map((days) => days * 86_400_000))
})

test('labels do not overlap', () => {
  expect(labelEvery(13, 728)).toBe(1)
  expect(labelEvery(92, 728)).toBe(8)
  expect(labelEvery(5, 0)).toBeGreaterThan(1)
})
