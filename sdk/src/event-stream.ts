import { createParser } from 'eventsource-parser'

export interface ServerEvent {
  event: string
  data: string
}

/** The largest delivery is smaller, even in base64. */
const longestEvent = 16 * 1024 * 1024

/**
 * Parses server-sent events from the bytes of a response. Calls `alive` for every chunk, because comments, such as
 * heartbeats, are not events but show that the connection works.
 */
export async function* eventsOf(
  body: AsyncIterable<Uint8Array>,
  alive: () => void = () => {},
): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  const events: ServerEvent[] = []
  const parser = createParser({
    maxBufferSize: longestEvent,
    onEvent: ({ event = 'message', data }) => events.push({ event, data }),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throw new Error(`An event is longer than ${longestEvent} characters.`)
    },
  })
  for await (const chunk of body) {
    alive()
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield* events.splice(0)
  }
}
