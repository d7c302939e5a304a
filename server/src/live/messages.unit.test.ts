import { describe, expect, test } from 'vitest'
import type { Hint } from './hint.ts'
import { limitHints, lostHints, packMessages } from './messages.ts'

const hint = (id: string, rest: Partial<Hint> = {}): Hint => ({
  workspace_id: 'wsp_a',
  type: 'Issue',
  id,
  action: 'update',
  ...rest,
})
const many = (count: number, rest: Partial<Hint> = {}) =>
  Array.from({ length: count }, (_, index) => hint(`iss_${index}`, rest))

describe('hints of one commit', () => {
  test('are sent one by one up to a hundred for one audience', () => {
    const hints = [...many(100), ...many(100, { only: 'usr_a' }), ...many(100, { workspace_id: 'wsp_b' })]
    expect(limitHints(hints)).toEqual(hints)
  })

  test('become one resync beyond that, only for that audience', () => {
    const [before, after] = [hint('first', { only: 'usr_b' }), hint('last', { workspace_id: 'wsp_b' })]
    expect(limitHints([before, ...many(101, { only: 'usr_a' }), after])).toEqual([
      before,
      { workspace_id: 'wsp_a', only: 'usr_a', except: null, resync: true },
      after,
    ])
  })
})

describe('messages to other processes', () => {
  const read = (all: string[]) => all.flatMap((message) => JSON.parse(message).news)

  test('contain as many hints as fit into less than 8,000 bytes, in order', () => {
    const hints = Array.from({ length: 500 }, (_, index) => JSON.stringify({ id: 'ü'.repeat(index % 50), index }))
    const all = packMessages('node', hints)
    expect(read(all)).toEqual(hints.map((one) => JSON.parse(one)))
    expect(all.length).toBeLessThan(10)
    for (const message of all) expect(Buffer.byteLength(message)).toBeLessThan(8000)
  })

  test('report lost hints if one does not fit into a message', () => {
    const largest = 7900 - '{"node":"node","news":[]}'.length - 1
    const sized = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2))
    expect(packMessages('node', ['1', sized(largest)])).toHaveLength(2)
    expect(packMessages('node', ['1', sized(largest + 1)])).toEqual([lostHints])
    expect(packMessages('node', ['1', lostHints, '2'])).toEqual([lostHints])
    expect(packMessages('node', [])).toEqual([])
  })
})
