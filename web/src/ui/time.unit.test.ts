import { expect, test } from 'vitest'
import { timeAgo } from './time.tsx'

const now = Date.parse('2026-05-20T12:00:00Z')

test.each([
  ['2026-05-20T11:59:30Z', 'just now'],
  ['2026-05-20T11:55:00Z', '5 minutes ago'],
  ['2026-05-20T10:00:00Z', '2 hours ago'],
  ['2026-05-19T12:00:00Z', 'yesterday'],
  ['2026-05-17T12:00:00Z', '3 days ago'],
  ['2025-12-24T12:00:00Z', 'Dec 24, 2025'],
])('%s is shown as %s', (moment, words) => {
  expect(timeAgo(moment, now)).toBe(words)
})
