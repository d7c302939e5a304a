import { expect, test } from 'vitest'
import { dayIn, dayOfDigest, nextDigest, startOfHour } from './digest-time.ts'

const zone = 'Europe/Zurich'
const at = (text: string) => new Date(text)
const iso = (time: Date) => time.toISOString().slice(0, 16)

test('the hour begins by the clock of the zone', () => {
  expect(iso(startOfHour(zone, '2026-01-10', 8))).toBe('2026-01-10T07:00')
  expect(iso(startOfHour(zone, '2026-07-10', 8))).toBe('2026-07-10T06:00')
  expect(iso(startOfHour('Asia/Kolkata', '2026-07-10', 8))).toBe('2026-07-10T02:30')
  expect(iso(startOfHour('Pacific/Kiritimati', '2026-07-10', 0))).toBe('2026-07-09T10:00')
  expect(iso(startOfHour('America/Los_Angeles', '2026-07-10', 23))).toBe('2026-07-11T06:00')
})

test('a skipped hour begins with the next, a repeated one with its first', () => {
  // 29 March 2026: 02:00 is followed by 03:00. 25 October 2026: 03:00 is followed by 02:00.
  expect(iso(startOfHour(zone, '2026-03-29', 1))).toBe('2026-03-29T00:00')
  expect(iso(startOfHour(zone, '2026-03-29', 2))).toBe('2026-03-29T01:00')
  expect(iso(startOfHour(zone, '2026-03-29', 3))).toBe('2026-03-29T01:00')
  expect(iso(startOfHour(zone, '2026-10-25', 2))).toBe('2026-10-25T00:00')
  expect(iso(startOfHour(zone, '2026-10-25', 3))).toBe('2026-10-25T02:00')
  // In Beirut midnight itself is skipped; in Lord Howe the clock moves by half an hour.
  expect(iso(startOfHour('Asia/Beirut', '2026-03-29', 0))).toBe('2026-03-28T22:00')
  expect(iso(startOfHour('Australia/Lord_Howe', '2026-10-04', 2))).toBe('2026-10-03T15:30')
})

test('the next digest is on a day that had none', () => {
  expect(iso(nextDigest(zone, 8, at('2026-03-02T06:59:59Z'), null))).toBe('2026-03-02T07:00')
  expect(iso(nextDigest(zone, 8, at('2026-03-02T07:00:00Z'), null))).toBe('2026-03-02T07:00')
  expect(iso(nextDigest(zone, 8, at('2026-03-02T07:00:01Z'), null))).toBe('2026-03-03T07:00')
  expect(iso(nextDigest(zone, 17, at('2026-03-02T07:30:00Z'), '2026-03-02'))).toBe('2026-03-03T16:00')
})

test('each day of a year has one digest, whatever the hour', () => {
  for (const hour of [0, 1, 2, 3, 8, 23]) {
    const days = new Set<string>()
    let last: string | null = null
    for (let now = at('2026-01-01T12:00:00Z'); days.size < 365; ) {
      const next = nextDigest(zone, hour, now, last)
      last = dayOfDigest(zone, hour, next)
      expect(days.has(last)).toBe(false)
      expect(dayIn(zone, next)).toBe(last)
      days.add(last)
      now = new Date(next.getTime() + 1)
    }
    expect([...days].sort().at(-1)).toBe(hour < 13 ? '2027-01-01' : '2026-12-31')
  }
})
