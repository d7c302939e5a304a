type Body = AsyncIterable<unknown> | ReadableStream<unknown>

/** Reads the whole body, or returns null as soon as it exceeds `max` bytes. */
export async function bytesUpTo(max: number, body: Body | null): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ? iterable(body) : []) {
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : (chunk as Uint8Array)
    size += bytes.length
    if (size > max) return null
    chunks.push(bytes)
  }
  return joined(chunks, size)
}

/** Some browsers cannot iterate over a stream. */
async function* iterable(body: Body): AsyncGenerator<unknown> {
  if (!('getReader' in body)) return yield* body
  const reader = body.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    reader.cancel().catch(() => {})
  }
}

function joined(chunks: Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
