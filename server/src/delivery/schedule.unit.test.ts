import { describe, expect, test } from 'vitest'
import { verifies } from '../../../conformance/requirements.ts'
import { isFailing } from './health.ts'
import { afterAttempt, type DeliveryState } from './schedule.ts'

const endedAt = new Date('2026-03-02T09:00:00.000Z')
const delays = [60_000, 3_600_000, 21_600_000]
const pending: DeliveryState = { status: 'pending', nextAt: '2026-03-02T09:00:00.000Z', settledAt: null }
const failed: DeliveryState = { status: 'failed', nextAt: null, settledAt: '2026-03-01T09:00:00.000Z' }

describe('after an attempt', () => {
  test.for([
    [1, 'pending', '2026-03-02T09:01:00.000Z'],
    [2, 'pending', '2026-03-02T10:00:00.000Z'],
    [3, 'pending', '2026-03-02T15:00:00.000Z'],
    [4, 'failed', null],
  ] as const)('number %i that failed it is %s', verifies('delivery.retry-schedule'), ([scheduled, status, nextAt]) => {
    const settledAt = status === 'failed' ? endedAt.toISOString() : null
    const made = { kind: 'scheduled', ok: false, endedAt, scheduled } as const
    expect(afterAttempt(pending, made, delays)).toEqual({ status, nextAt, settledAt })
  })

  test('that succeeded, the delivery has succeeded', () => {
    for (const before of [pending, failed]) {
      for (const kind of ['scheduled', 'redelivery'] as const) {
        expect(afterAttempt(before, { kind, ok: true, endedAt, scheduled: 2 }, delays)).toEqual({
          status: 'succeeded',
          nextAt: null,
          settledAt: endedAt.toISOString(),
        })
      }
    }
  })

  test('that was a failed redelivery, nothing changes', () => {
    for (const before of [pending, failed]) {
      expect(afterAttempt(before, { kind: 'redelivery', ok: false, endedAt, scheduled: 4 }, delays)).toBe(before)
    }
  })

  test('without retry delays, the delivery has failed', () => {
    const made = { kind: 'scheduled', ok: false, endedAt, scheduled: 1 } as const
    expect(afterAttempt(pending, made, []).status).toBe('failed')
  })
})

test.for([
  [false, 2, false],
  [false, 3, true],
  [false, 4, true],
  [true, 3, false],
  [true, 100, false],
] as const)('a day with success %s and %i failures: failing is %s', ([succeeded, count, failing]) => {
  expect(isFailing({ succeeded, failed: count })).toBe(failing)
})
