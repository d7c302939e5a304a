import { TextDecoder } from 'node:util'
import { programLimits } from '@baton/protocol'

export interface MediaType {
  media_type: string
  /** Browsers may show it: it is an image or a video that cannot contain scripts. */
  inline: boolean
  width: number | null
  height: number | null
}

/** Enough for the headers of an image; metadata before them can be long. */
const headBytes = 256 * 1024

/** Finds the type of a file from its bytes alone, as they pass. Of images it reads headers; no pixel is decoded. */
export class TypeDetector {
  readonly #head: Buffer[] = []
  #headLength = 0
  #result: MediaType | undefined
  #text: TextDecoder | null = new TextDecoder('utf-8', { fatal: true })

  push(chunk: Buffer) {
    if (this.#headLength < headBytes) {
      // A copy: the chunk may be part of a larger buffer, which would be kept.
      const part = Buffer.from(chunk.subarray(0, headBytes - this.#headLength))
      this.#head.push(part)
      this.#headLength += part.length
    }
    if (this.#text && !isText(this.#text, chunk)) this.#text = null
  }

  result(): MediaType {
    this.#result ??= this.#find()
    return this.#result
  }

  #find(): MediaType {
    const head = Buffer.concat(this.#head)
    return imageType(head) ?? videoType(head) ?? plain(documentType(head, this.#endsAsText()))
  }

  #endsAsText() {
    try {
      this.#text?.decode()
      return this.#text !== null
    } catch {
      return false
    }
  }
}

const plain = (media_type: string): MediaType => ({ media_type, inline: false, width: null, height: null })

function isText(decoder: TextDecoder, chunk: Buffer) {
  try {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: text has no other control characters
    return !/[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]/.test(decoder.decode(chunk, { stream: true }))
  } catch {
    return false
  }
}

/** Markup such as HTML, SVG and XML has no type of its own, so that no program runs it. */
function documentType(head: Buffer, text: boolean): string {
  if (head.subarray(0, 5).toString('latin1') === '%PDF-') return 'application/pdf'
  const isMarkup = /^\ufeff?\s*</.test(head.subarray(0, 4096).toString('utf8'))
  return text && head.length > 0 && !isMarkup ? 'text/plain' : 'application/octet-stream'
}

type Size = { width: number; height: number }

function imageType(head: Buffer): MediaType | undefined {
  for (const [media_type, isOf, sizeOf] of images) {
    if (!isOf(head)) continue
    const size = sizeOf(head)
    if (!size || size.width < 1 || size.height < 1) return plain('application/octet-stream')
    const { width, height } = size
    const small = Math.max(width, height) <= programLimits.imageSide && width * height <= programLimits.imagePixels
    return { media_type, inline: small, width, height }
  }
  return undefined
}

const starts = (head: Buffer, hex: string) => head.subarray(0, hex.length / 2).toString('hex') === hex
const ascii = (head: Buffer, start: number, length: number) => head.toString('latin1', start, start + length)

const images: readonly [string, (head: Buffer) => boolean, (head: Buffer) => Size | undefined][] = [
  ['image/png', (head) => starts(head, '89504e470d0a1a0a'), pngSize],
  ['image/jpeg', (head) => starts(head, 'ffd8ff'), jpegSize],
  ['image/gif', (head) => /^GIF8[79]a$/.test(ascii(head, 0, 6)), gifSize],
  ['image/webp', (head) => ascii(head, 0, 4) === 'RIFF' && ascii(head, 8, 4) === 'WEBP', webpSize],
  ['image/avif', isAvif, avifSize],
]

function pngSize(head: Buffer): Size | undefined {
  if (head.length < 24 || ascii(head, 12, 4) !== 'IHDR') return undefined
  return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) }
}

function gifSize(head: Buffer): Size | undefined {
  return head.length < 10 ? undefined : { width: head.readUInt16LE(6), height: head.readUInt16LE(8) }
}

/** The first frame header; other segments are skipped by their length. */
function jpegSize(head: Buffer): Size | undefined {
  for (let at = 2; at + 9 <= head.length; ) {
    if (head[at] !== 0xff) return undefined
    const marker = head[at + 1] as number
    if (marker === 0xff) {
      at++
      continue
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { width: head.readUInt16BE(at + 7), height: head.readUInt16BE(at + 5) }
    // Scans follow their frame header, and these markers have no length.
    if (marker === 0xda || marker === 0xd9 || (marker >= 0xd0 && marker <= 0xd8) || marker === 0x01) return undefined
    at += 2 + Math.max(2, head.readUInt16BE(at + 2))
  }
  return undefined
}

function webpSize(head: Buffer): Size | undefined {
  if (head.length < 30) return undefined
  switch (ascii(head, 12, 4)) {
    case 'VP8 ':
      return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff }
    case 'VP8L': {
      const bits = head.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 }
    default:
      return undefined
  }
}

/** The brands of the file type box, which is the first box of AVIF and MP4. */
function brandsOf(head: Buffer): string[] {
  if (head.length < 16 || ascii(head, 4, 4) !== 'ftyp') return []
  const end = Math.min(head.readUInt32BE(0), head.length, 256)
  const brands = [ascii(head, 8, 4)]
  for (let at = 16; at + 4 <= end; at += 4) brands.push(ascii(head, at, 4))
  return brands
}

function isAvif(head: Buffer) {
  return brandsOf(head).some((brand) => brand === 'avif' || brand === 'avis')
}

/** The largest of the sizes that the image's properties state (ISO/IEC 23008-12: `ispe` within `meta`). */
function avifSize(head: Buffer): Size | undefined {
  let largest: Size | undefined
  const ofType = (from: number, to: number, type: string) => boxes(head, from, to).find((box) => box.type === type)
  const meta = ofType(0, head.length, 'meta')
  const properties = meta && ofType(meta.start + 4, meta.end, 'iprp')
  const container = properties && ofType(properties.start, properties.end, 'ipco')
  for (const { type, start, end } of container ? boxes(head, container.start, container.end) : []) {
    if (type !== 'ispe' || end - start < 12) continue
    const size = { width: head.readUInt32BE(start + 4), height: head.readUInt32BE(start + 8) }
    if (!largest || size.width * size.height > largest.width * largest.height) largest = size
  }
  return largest
}

/** The boxes between two positions; `start` and `end` are those of a box's content. */
function boxes(head: Buffer, from: number, to: number) {
  const found: { type: string; start: number; end: number }[] = []
  for (let at = from; at + 8 <= to && found.length < 1000; ) {
    const length = head.readUInt32BE(at)
    if (length < 8) break
    found.push({ type: ascii(head, at + 4, 4), start: at + 8, end: Math.min(at + length, to) })
    at += length
  }
  return found
}

const mp4Brands = ['isom', 'iso2', 'iso4', 'iso5', 'iso6', 'mp41', 'mp42', 'avc1', 'M4V ', 'dash']

function videoType(head: Buffer): MediaType | undefined {
  const video = (media_type: string): MediaType => ({ ...plain(media_type), inline: true })
  if (brandsOf(head).some((brand) => mp4Brands.includes(brand))) return video('video/mp4')
  // Matroska has the same beginning; the document type follows within the first element.
  if (starts(head, '1a45dfa3') && head.subarray(0, 64).includes('webm')) return video('video/webm')
  return undefined
}
