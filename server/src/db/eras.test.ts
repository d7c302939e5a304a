import { expect, test } from 'vitest'
import { Eras } from './eras.ts'

test('an era ends when four times as many statements have been run as when it began', () => {
  const eras = new Eras()
  const lasts = Array.from({ length: 20_000 }, () => eras.next())
  const ends = [...new Set(lasts)].map((era) => lasts.lastIndexOf(era) + 1)
  expect(ends).toEqual([256, 1024, 4096, 16384, 20_000])
})
