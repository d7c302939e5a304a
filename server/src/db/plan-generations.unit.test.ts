import { expect, test } from 'vitest'
import { PlanGenerations } from './plan-generations.ts'

test('a generation ends when four times as many statements have run as at its start', () => {
  const generations = new PlanGenerations()
  const generationOfStatement = Array.from({ length: 20_000 }, () => generations.next())
  const ends = [...new Set(generationOfStatement)].map((one) => generationOfStatement.lastIndexOf(one) + 1)
  expect(ends).toEqual([256, 1024, 4096, 16384, 20_000])
})
