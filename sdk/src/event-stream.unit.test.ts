import { describe, expect, test } from 'vitest'
import { eventsOf } from './event-stream.ts'

async function* chunksOf(text: string, size: number) {
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function parse(text: string, size: number) {
  const events = []
  for await (const event of eventsOf(chunksOf(text, size))) events.push(event)
  return events
}

describe.each([1, 2, 3, 1000])('in chunks of %i bytes', (size) => {
  test.each(['\n', '\r\n', '\r'])('parses events whose lines end in %j', async (end) => {
    const lines = [
      ': comment',
      'event: ready',
      'data: {}',
      '',
      'data:a',
      'data: é😀',
      'id: 7',
      '',
      'event: none',
      '',
      '',
    ]
    // The last character shows that a final CR is not the first half of a CRLF.
    expect(await parse(`${lines.join(end)}:`, size)).toEqual([
      { event: 'ready', data: '{}' },
      { event: 'message', data: 'a\né😀' },
    ])
  })
})

test('drops an event that the end of the stream cuts off', async () => {
  expect(await parse('data: whole\n\ndata: half\n', 5)).toEqual([{ event: 'message', data: 'whole' }])
})

test('parses a long line that arrives byte by byte', async () => {
  const data = 'x'.repeat(32 * 1024)
  expect(await parse(`data: ${data}\n\n`, 1)).toEqual([{ event: 'message', data }])
})

test.each([
  ['line', 'x'.repeat(1024 * 1024)],
  ['event', `data:${'x'.repeat(1024 * 1024)}\n`],
])('rejects a stream with an endless %s', async (_, piece) => {
  let sent = 0
  const endless = async function* () {
    for (; ; sent++) yield new TextEncoder().encode(piece)
  }
  await expect(eventsOf(endless()).next()).rejects.toThrow('longer than 16777216 characters')
  expect(sent).toBeLessThan(50)
})
