/** The beginning of a PNG of this size; there are no pixels. */
export function png(width = 2, height = 2, extra = ''): Buffer {
  const head = Buffer.alloc(33)
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(head)
  head.writeUInt32BE(width, 16)
  head.writeUInt32BE(height, 20)
  head.set([8, 6], 24)
  return Buffer.concat([head, Buffer.from(extra)])
}

/** A picture of one red pixel, which browsers show. */
export const redPixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==',
  'base64',
)
