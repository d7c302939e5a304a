import { expect, test } from 'vitest'
import { TestClock } from '../test/clock.ts'
import { repeat } from './clock.ts'

const neverFails = (error: Error) => {
  throw error
}

test('runs the work once at a time, and waits for it when stopped', async () => {
  const clock = new TestClock()
  const ends: (() => void)[] = []
  const stop = repeat(clock, 1000, () => new Promise<void>((end) => ends.push(end)), neverFails)
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

test('reports an error, continues, and can still be stopped', async () => {
  const clock = new TestClock()
  let runs = 0
  const errors: string[] = []
  const work = async () => {
    runs++
    throw new Error(`failed ${runs}`)
  }
  const stop = repeat(clock, 1000, work, ({ message }) => errors.push(message))
  for (let second = 0; second < 3; second++) {
    clock.advance({ seconds: 1 })
    await new Promise(setImmediate)
  }
  expect(errors).toEqual(['failed 1', 'failed 2', 'failed 3'])
  clock.advance({ seconds: 1 })
  await stop()
  expect([runs, clock.waiting]).toEqual([4, 0])
})
