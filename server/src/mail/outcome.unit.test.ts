import { describe, expect, test } from 'vitest'
import { verifies } from '../../../conformance/requirements.ts'
import { afterAttempt, pauseMs } from './outcome.ts'

const now = new Date('2026-03-02T09:00:00Z')
const delays = [60_000, 300_000]
const refused = { kind: 'refused', permanent: false, badAddress: false, problem: 'p' } as const

describe('after an attempt', () => {
  test('a mail that was taken is sent', () => {
    expect(afterAttempt(0, { kind: 'sent' }, delays, now)).toEqual({ state: 'sent', attempts: 1, problem: null })
  })

  test('a mail that was refused for now waits for each delay, then fails', verifies('mail.greylisting'), () => {
    for (const outcome of [refused, { kind: 'uncertain', problem: 'p' } as const]) {
      expect([0, 1, 2].map((attempts) => afterAttempt(attempts, outcome, delays, now))).toEqual([
        { state: 'pending', attempts: 1, nextAt: new Date('2026-03-02T09:01:00Z'), problem: 'p' },
        { state: 'pending', attempts: 2, nextAt: new Date('2026-03-02T09:05:00Z'), problem: 'p' },
        { state: 'failed', attempts: 3, problem: 'p' },
      ])
    }
  })

  test('a mail that was refused for good fails at once', verifies('mail.permanent-refusal'), () => {
    expect(afterAttempt(0, { ...refused, permanent: true }, delays, now)).toMatchObject({
      state: 'failed',
      attempts: 1,
    })
  })
})

test('pauses last 1, 5, then 15 minutes', verifies('mail.server-trouble-pauses'), () => {
  expect([0, 1, 2, 3, 100].map((pauses) => pauseMs(pauses) / 60_000)).toEqual([1, 5, 15, 15, 15])
})
