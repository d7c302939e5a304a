export interface Image {
  type: 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif'
  width: number
  height: number
}

type Size = Pick<Image, 'width' | 'height'>

const maxSide = 8192
const maxDifference = 0.02

const readers: [Image['type'], (bytes: Buffer) => Size | null][] = [
  ['image/png', pngSize],
  ['image/gif', gifSize],
  ['image/jpeg', jpegSize],
  ['image/webp', webpSize],
]

/** Type and size, from the header bytes alone; the content type sent with them is ignored, and nothing is decoded. */
export function imageOf(bytes: Buffer): Image | null {
  for (const [type, sizeOf] of readers) {
    const size = sizeOf(bytes)
    if (size) return hasAllowedSize(size) ? { type, ...size } : null
  }
  return null
}

export const isSquare = ({ width, height }: Size) => Math.abs(width - height) / Math.max(width, height) <= maxDifference

const hasAllowedSize = ({ width, height }: Size) => isAllowedSide(width) && isAllowedSide(height)
const isAllowedSide = (pixels: number) => pixels >= 1 && pixels <= maxSide

/** Whether the text is at this offset, one byte per character. */
const has = (bytes: Buffer, text: string, at = 0) => bytes.toString('latin1', at, at + text.length) === text

function pngSize(bytes: Buffer): Size | null {
  const headerBytes = 33
  if (bytes.length < headerBytes || !has(bytes, '\x89PNG\r\n\x1a\n\0\0\0\rIHDR')) return null
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

function gifSize(bytes: Buffer): Size | null {
  const headerBytes = 13
  if (bytes.length < headerBytes || !(has(bytes, 'GIF87a') || has(bytes, 'GIF89a'))) return null
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
}

function jpegSize(bytes: Buffer): Size | null {
  if (!has(bytes, '\xff\xd8\xff')) return null
  let at = 2
  while (bytes[at] === 0xff) {
    // A marker may be preceded by any number of fill bytes.
    while (bytes[at] === 0xff) at++
    const marker = bytes[at++]
    if (marker === undefined || at + 2 > bytes.length) return null
    if (isStandalone(marker)) continue
    if (!hasLength(marker)) return null
    const length = bytes.readUInt16BE(at)
    if (length < 2) return null
    if (isFrame(marker)) return frameSize(bytes.subarray(at, at + length))
    at += length
  }
  return null
}

const isStandalone = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)

/** Of the others, those allowed before the frame: not the start or end of an image, nor of a scan. */
const hasLength = (marker: number) => marker >= 0xc0 && !(marker >= 0xd8 && marker <= 0xda)

/** SOF0 to SOF15, without the three codes in that range that begin no frame: DHT, JPG and DAC. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

function frameSize(frame: Buffer): Size | null {
  const smallest = 11
  if (frame.length < smallest) return null
  return { height: frame.readUInt16BE(3), width: frame.readUInt16BE(5) }
}

function webpSize(bytes: Buffer): Size | null {
  if (bytes.length < 20 || !has(bytes, 'RIFF') || !has(bytes, 'WEBP', 8)) return null
  const kind = bytes.toString('latin1', 12, 16)
  const chunk = bytes.subarray(20, 20 + bytes.readUInt32LE(16))
  if (kind === 'VP8 ') return lossySize(chunk)
  if (kind === 'VP8L') return losslessSize(chunk)
  if (kind === 'VP8X') return extendedSize(chunk)
  return null
}

function lossySize(chunk: Buffer): Size | null {
  if (chunk.length < 10 || !has(chunk, '\x9d\x01\x2a', 3)) return null
  const isKeyFrame = (chunk.readUInt8(0) & 1) === 0
  // The upper two bits of each are a scaling factor.
  return isKeyFrame ? { width: chunk.readUInt16LE(6) & 0x3fff, height: chunk.readUInt16LE(8) & 0x3fff } : null
}

function losslessSize(chunk: Buffer): Size | null {
  if (chunk.length < 5 || chunk[0] !== 0x2f) return null
  const bits = chunk.readUInt32LE(1)
  const version = bits >>> 29
  return version === 0 ? { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 } : null
}

function extendedSize(chunk: Buffer): Size | null {
  if (chunk.length < 10) return null
  return { width: chunk.readUIntLE(4, 3) + 1, height: chunk.readUIntLE(7, 3) + 1 }
}
