import { appendFile, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock, type WebhookEvent } from '@baton/sdk'
import { expect, test } from 'vitest'
import { verifies } from '../../../conformance/requirements.ts'
import { TestClock } from '../../../server/test/clock.ts'
import { temporary } from '../../test/baton.ts'
import { Journal } from './journal.ts'

const event = (id: string) => ({ type: 'Ping', data: { event_id: id } }) as unknown as WebhookEvent

test(
  'an event is claimed once and kept until it is finished',
  verifies('run.unbegun-work-done-after-restart', 'run.no-prompt-twice'),
  async () => {
    const path = join(await temporary(), 'journal.jsonl')
    const first = await Journal.open(path, systemClock)
    expect(await Promise.all([first.claim('a', event('a')), first.claim('a', event('a'))])).toEqual([true, false])
    await first.claim('b', event('b'))
    await first.claim('c', event('c'))
    await first.mark(['b', 'c'], 'begun')
    await first.mark(['c'], 'finished')
    await first.mark(['unknown'], 'finished')
    // As after a kill: not closed, and the last line incomplete.
    await appendFile(path, '{"at":"2026-')
    const second = await Journal.open(path, systemClock)
    expect(second.unfinished()).toEqual([
      { event: event('a'), begun: false },
      { event: event('b'), begun: true },
    ])
    expect(await second.claim('c', event('c'))).toBe(false)
    await second.mark(['c'], 'begun')
    await second.claim('d', event('d'))
    const third = await Journal.open(path, systemClock)
    expect(third.unfinished().map(({ event }) => event.data.event_id)).toEqual(['a', 'b', 'd'])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    await Promise.all([first.close(), second.close(), third.close()])
  },
)

test('finished events are forgotten after the service has stopped to retry', async () => {
  const clock = new TestClock()
  const path = join(await temporary(), 'journal.jsonl')
  const first = await Journal.open(path, clock)
  await first.claim('a', event('a'))
  await first.mark(['a'], 'finished')
  clock.advance({ days: 36 })
  const second = await Journal.open(path, clock)
  expect(await readFile(path, 'utf8')).toBe('')
  await Promise.all([first.close(), second.close()])
})
