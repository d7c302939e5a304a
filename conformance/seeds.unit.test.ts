import fc from 'fast-check'
import { expect, test } from 'vitest'

const firstValue = () => {
  const values: number[] = []
  fc.assert(
    fc.property(fc.integer(), (value) => void values.push(value)),
    { numRuns: 1 },
  )
  return values[0]
}

test('all properties of a test have the same seed', () => {
  expect(fc.readConfigureGlobal().seed).toEqual(expect.any(Number))
  expect(firstValue()).toBe(firstValue())
})

test('a property that is interrupted fails', async () => {
  const endless = fc.asyncProperty(fc.nat(), () => new Promise((resolve) => setTimeout(resolve, 1)))
  const run = fc.assert(endless, { numRuns: 1_000_000, interruptAfterTimeLimit: 20 })
  await expect(run).rejects.toThrow('Property interrupted')
})
