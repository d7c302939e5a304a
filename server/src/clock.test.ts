import { expect, test } from 'vitest'
import { TestClock } from '../test/clock.ts'
import { repeat } from './clock.ts'

test('what is repeated is done once at a time, and a stop waits for it', async () => {
  const clock = new TestClock()
  const ends: (() => void)[] = []
  const stop = repeat(clock, 1000, () => new Promise<void>((end) => ends.push(end)))
  clock.advance({ milliseconds: 999 })
  expect(ends).toHaveLength(0)
  clock.advance({ milliseconds: 1 })
  clock.advance({ seconds: 5 })
  expect(ends).toHaveLength(1)
  ends[0]?.()
  await Promise.resolve()
  clock.advance({ seconds: 1 })
  expect(ends).toHaveLength(2)
  let stopped = false
  const stopping = stop().then(() => {
    stopped = true
  })
  await Promise.resolve()
  expect(stopped).toBe(false)
  ends[1]?.()
  await stopping
  clock.advance({ seconds: 5 })
  expect(ends).toHaveLength(2)
  expect(clock.waiting).toBe(0)
})
