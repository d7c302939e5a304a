import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { speak } from './recent.ts'

const at = (ms: number) => new Date(1_000_000 + ms)

/** When somebody who tries at these moments is let through. */
function spokenAt(attempts: number[], perSecond: number): number[] {
  let recent: number[] = []
  return attempts.filter((ms) => {
    const spoken = speak(recent, at(ms), perSecond)
    if ('waitMs' in spoken) return false
    recent = spoken.recent
    return true
  })
}

const most = (moments: number[]) =>
  Math.max(0, ...moments.map((from) => moments.filter((ms) => ms >= from && ms < from + 1000).length))

describe('speaking', () => {
  test('is free up to the limit, and again a second after the first', () => {
    const ten = Array.from({ length: 10 }, () => 0)
    expect(spokenAt([...ten, 0, 999, 1000], 10)).toEqual([...ten, 1000])
  })

  test('slides: the second does not begin anew', () => {
    expect(spokenAt([0, 900, 1000, 1100, 1899, 1900, 2000], 2)).toEqual([0, 900, 1000, 1900, 2000])
  })

  test('keeps no more than it needs', () => {
    const first = speak([], at(0), 3) as { recent: number[] }
    const later = speak(first.recent, at(1000), 3)
    expect(later).toEqual({ recent: [at(1000).getTime()] })
  })

  test('no second holds more than the limit, and who waits as long as told is let through', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(400), { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), (steps, perSecond) => {
        let now = 0
        let recent: number[] = []
        const spoken: number[] = []
        for (const step of steps) {
          now += step
          const outcome = speak(recent, at(now), perSecond)
          if ('recent' in outcome) {
            recent = outcome.recent
            spoken.push(now)
            continue
          }
          expect(outcome.waitMs).toBeGreaterThan(0)
          expect(outcome.waitMs).toBeLessThanOrEqual(1000)
          expect('waitMs' in speak(recent, at(now + outcome.waitMs - 1), perSecond)).toBe(true)
          expect('recent' in speak(recent, at(now + outcome.waitMs), perSecond)).toBe(true)
        }
        expect(most(spoken)).toBeLessThanOrEqual(perSecond)
      }),
    )
  })

  test('a clock that was set back neither lets anybody through twice nor silences them for long', () => {
    const { recent } = speak([], at(0), 1) as { recent: number[] }
    expect(speak(recent, at(-500), 1)).toEqual({ waitMs: 1500 })
    expect(speak(recent, at(-1000), 1)).toHaveProperty('recent')
  })
})
