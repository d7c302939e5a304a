export interface ServerEvent {
  event: string
  data: string
}

/** The largest delivery, written as base64, is below. */
const longestEvent = 16 * 1024 * 1024

/** Server-sent events from the bytes of an answer. A comment, such as a heartbeat, is no event but a sign of life. */
export async function* eventsOf(
  body: AsyncIterable<Uint8Array>,
  alive: () => void = () => {},
): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  let unread = ''
  let event = 'message'
  let data: string[] = []
  for await (const chunk of body) {
    alive()
    unread += decoder.decode(chunk, { stream: true })
    const lines = unread.split(/\r\n|\n|\r(?!$)/)
    unread = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield { event, data: data.join('\n') }
        event = 'message'
        data = []
      } else if (!line.startsWith(':')) {
        const [, field, value = ''] = /^([^:]*)(?:: ?([\s\S]*))?$/.exec(line) ?? []
        if (field === 'event') event = value
        if (field === 'data') data.push(value)
      }
    }
    if (unread.length > longestEvent || length(data) > longestEvent) throw new Error('An event is too long.')
  }
}

const length = (lines: string[]) => lines.reduce((sum, line) => sum + line.length + 1, 0)
