import { afterAll, beforeAll } from 'vitest'
import { beginTimes } from './times.ts'

let times = beginTimes()

beforeAll(() => {
  times = beginTimes()
})

// biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures that a hook needs from this pattern
afterAll(({}, file) => {
  file.meta.times = times()
})
