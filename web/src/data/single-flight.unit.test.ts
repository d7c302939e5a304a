import { expect, test } from 'vitest'
import { fakeBrowser, later } from '../../test/fake-browser.ts'

async function load() {
  fakeBrowser()
  const { singleFlight } = await import('./single-flight.ts')
  const { BatonError } = await import('@baton/sdk/errors')
  const networkError = () => new BatonError({ code: 'NETWORK_ERROR', status: 0, message: 'unreachable' })
  return { singleFlight, networkError }
}

test('runs once more for all calls made during a run', async () => {
  const { singleFlight } = await load()
  const first = later<void>()
  let runs = 0
  const work = async () => {
    runs++
    await first.answer
  }
  const done = singleFlight('key', work)
  await Promise.all([singleFlight('key', work), singleFlight('key', work)])
  first.give()
  await done
  expect(runs).toBe(2)
})

test('ignores a failed request, and still runs again for a call made meanwhile', async () => {
  const { singleFlight, networkError } = await load()
  const first = later<void>()
  let runs = 0
  const work = async () => {
    if (++runs > 1) return
    await first.answer
    throw networkError()
  }
  const done = singleFlight('key', work)
  await singleFlight('key', work)
  first.give()
  await done
  expect(runs).toBe(2)
})

test('passes on an error that is not a failed request, and runs again later', async () => {
  const { singleFlight } = await load()
  await expect(singleFlight('key', () => Promise.reject(new TypeError('a bug')))).rejects.toThrow('a bug')
  let ran = false
  await singleFlight('key', async () => {
    ran = true
  })
  expect(ran).toBe(true)
})
