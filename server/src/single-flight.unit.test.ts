import { describe, expect, test } from 'vitest'
import { CoalescedTask, SingleFlight } from './single-flight.ts'

/** Work whose runs a test ends one by one. */
function controlledWork() {
  const runs: { resolve: (value: number) => void; reject: (error: Error) => void }[] = []
  const work = () => new Promise<number>((resolve, reject) => void runs.push({ resolve, reject }))
  return { runs, work }
}

describe('SingleFlight', () => {
  test('shares a run between calls for the same key, and starts another once it has ended', async () => {
    const { runs, work } = controlledWork()
    const flight = new SingleFlight<number>()
    const [first, second, other] = [flight.run('a', work), flight.run('a', work), flight.run('b', work)]
    expect(runs).toHaveLength(2)
    runs[0]?.resolve(1)
    runs[1]?.resolve(2)
    expect(await Promise.all([first, second, other])).toEqual([1, 1, 2])
    void flight.run('a', work)
    expect(runs).toHaveLength(3)
  })

  test('rejects every call that shared a failed run, and starts a new run afterwards', async () => {
    const { runs, work } = controlledWork()
    const flight = new SingleFlight<number>()
    const calls = Promise.allSettled([flight.run('a', work), flight.run('a', work)])
    runs[0]?.reject(new Error('away'))
    expect((await calls).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    const next = flight.run('a', work)
    runs[1]?.resolve(1)
    expect(await next).toBe(1)
  })
})

describe('CoalescedTask', () => {
  test('runs once more for any number of requests during a run', async () => {
    const { runs, work } = controlledWork()
    const task = new CoalescedTask(async () => void (await work()))
    const all = [task.request(), task.request(), task.request()]
    expect(runs).toHaveLength(1)
    runs[0]?.resolve(1)
    await new Promise(setImmediate)
    expect(runs).toHaveLength(2)
    runs[1]?.resolve(2)
    await Promise.all(all)
    await task.idle()
    expect(runs).toHaveLength(2)
  })

  test('runs for a request that comes in the moment a run ends', async () => {
    let runs = 0
    const task = new CoalescedTask(async () => void runs++)
    for (let count = 1; count <= 5; count++) {
      await task.request()
      expect(runs).toBe(count)
    }
    void task.request()
    await Promise.resolve().then(() => task.request())
    expect(runs).toBe(7)
  })

  test('can be requested again after a run failed', async () => {
    let runs = 0
    const task = new CoalescedTask(async () => {
      if (++runs === 1) throw new Error('away')
    })
    await expect(task.request()).rejects.toThrow('away')
    await task.request()
    expect(runs).toBe(2)
  })
})
