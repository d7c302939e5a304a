import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { processorMs } from '../../../conformance/times.ts'
import { type Image, imageOf, isSquare } from './image.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const inHex = (bytes: number, value: number) => value.toString(16).padStart(2 * bytes, '0')
const backwards = (text: string) => hex(text).reverse().toString('hex')
const big = (bytes: number, value: number) => inHex(bytes, value)
const little = (bytes: number, value: number) => backwards(inHex(bytes, value))

type Build = (width: number, height: number) => Buffer

const png: Build = (width, height) =>
  hex(`89504e470d0a1a0a 0000000d 49484452 ${big(4, width)} ${big(4, height)} 0806000000 00000000`)

const gif =
  (version: '87a' | '89a'): Build =>
  (width, height) =>
    Buffer.concat([Buffer.from(`GIF${version}`), hex(`${little(2, width)} ${little(2, height)} 000000`)])

const app0 = 'ffe0 0010 4a46494600 0101 00 0001 0001 00 00'
const jpeg =
  (marker: string, before = app0): Build =>
  (width, height) =>
    hex(`ffd8 ${before} ff${marker} 000b 08 ${big(2, height)} ${big(2, width)} 01 011100 ffda`)

const webp = (kind: string, chunk: string) => {
  const size = hex(chunk).length
  return hex(
    `52494646 ${little(4, size + 12)} 57454250 ${Buffer.from(kind).toString('hex')} ${little(4, size)} ${chunk}`,
  )
}
const lossy: Build = (width, height) => webp('VP8 ', `300100 9d012a ${little(2, width)} ${little(2, height)}`)
const lossless: Build = (width, height) => webp('VP8L', `2f ${little(4, width - 1 + (height - 1) * 2 ** 14)}`)
const extended: Build = (width, height) => webp('VP8X', `10000000 ${little(3, width - 1)} ${little(3, height - 1)}`)

const formats: [string, Image['type'], Build][] = [
  ['PNG', 'image/png', png],
  ['GIF87a', 'image/gif', gif('87a')],
  ['GIF89a', 'image/gif', gif('89a')],
  ['baseline JPEG', 'image/jpeg', jpeg('c0')],
  ['progressive JPEG', 'image/jpeg', jpeg('c2')],
  ['lossy WebP', 'image/webp', lossy],
  ['lossless WebP', 'image/webp', lossless],
  ['extended WebP', 'image/webp', extended],
]

describe.each(formats)('%s', (_, type, build) => {
  test.each([
    [1, 1],
    [256, 255],
    [513, 1026],
    [8192, 8192],
  ])('%i x %i', (width, height) => {
    expect(imageOf(build(width, height))).toEqual({ type, width, height })
    expect(imageOf(Buffer.concat([build(width, height), Buffer.alloc(100)]))).toEqual({ type, width, height })
  })

  test.each([
    [8193, 1],
    [1, 8193],
    [16_384, 16_384],
  ])('%i x %i is refused', (width, height) => expect(imageOf(build(width, height))).toBeNull())

  test('an incomplete header is refused, wherever it ends', () => {
    const whole = build(64, 64)
    // The last two bytes of the JPEG are the marker of the scan, which is not read.
    const needed = type === 'image/jpeg' ? whole.length - 2 : whole.length
    for (let length = 0; length < needed; length++) expect(imageOf(whole.subarray(0, length))).toBeNull()
  })
})

test.each([
  ['PNG', png],
  ['GIF', gif('89a')],
  ['JPEG', jpeg('c0')],
  ['lossy WebP', lossy],
] as [string, Build][])('a %s without width or height is refused', (_, build) => {
  expect(imageOf(build(0, 64))).toBeNull()
  expect(imageOf(build(64, 0))).toBeNull()
  expect(imageOf(build(0, 0))).toBeNull()
})

test('a PNG of 4,294,967,295 pixels a side is refused', () => expect(imageOf(png(2 ** 32 - 1, 2 ** 32 - 1))).toBeNull())

test('the scaling of a lossy WebP is not part of its size', () => {
  expect(imageOf(lossy(64 + 0x4000, 64 + 0xc000))).toMatchObject({ width: 64, height: 64 })
})

const real: [string, string, string][] = [
  [
    'PNG',
    'image/png',
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  ],
  ['GIF', 'image/gif', 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'],
  [
    'JPEG with arithmetic coding',
    'image/jpeg',
    '/9j/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/yQALCAABAAEBAREA/8wABgAQEAX/2gAIAQEAAD8A0s8g/9k=',
  ],
  ['lossy WebP', 'image/webp', 'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA'],
  ['lossless WebP', 'image/webp', 'UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=='],
]
test.each(real)('a real %s of one pixel', (_, type, base64) => {
  expect(imageOf(Buffer.from(base64, 'base64'))).toEqual({ type, width: 1, height: 1 })
})

describe('the segments of a JPEG', () => {
  const markers = Array.from({ length: 16 }, (_, i) => (0xc0 + i).toString(16))
  const noFrames = ['c4', 'c8', 'cc']

  test.each(markers.filter((marker) => !noFrames.includes(marker)))('%s begins a frame', (marker) => {
    expect(imageOf(jpeg(marker)(48, 32))).toEqual({ type: 'image/jpeg', width: 48, height: 32 })
  })

  test.each(noFrames)('%s begins no frame', (marker) => {
    expect(imageOf(jpeg(marker)(48, 32))).toBeNull()
    expect(imageOf(jpeg('c0', `ff${marker} 000b 08 0001 0001 01 011100`)(48, 32))).toMatchObject({ width: 48 })
  })

  const before: [string, string][] = [
    ['nothing', ''],
    ['an empty comment', 'fffe 0002'],
    ['Exif with a thumbnail of another size', 'ffe1 000e ffd8 ffc0 000b 08 0001 0001 01'],
    ['fill bytes', 'ffffffff'],
    ['markers that stand alone', 'ff01 ffd0 ffd7'],
    ['many segments', 'ffe2 0004 abcd'.repeat(2000)],
  ]
  test.each(before)('%s may come before the frame', (_, segments) => {
    expect(imageOf(jpeg('c0', segments)(48, 32))).toMatchObject({ width: 48, height: 32 })
  })

  const broken: [string, string][] = [
    ['a segment shorter than its own length', 'ffe0 0001'],
    ['a segment of no length', 'ffe0 0000'],
    ['a segment that extends past the end', 'ffe0 ffff'],
    ['a segment that ends between markers', 'ffe0 0003 00 00'],
    ['a scan before the frame', 'ffda 0002'],
    ['a second start of image', 'ffd8'],
    ['an end of image', 'ffd9'],
    ['a stuffed byte in place of a marker', 'ff00'],
    ['a frame that is too short', 'ffc0 0008 08 0001 0001 01'],
  ]
  test.each(broken)('%s is refused', (_, segments) => expect(imageOf(jpeg('c0', segments)(48, 32))).toBeNull())
})

const refused: [string, Buffer][] = [
  ['nothing', Buffer.alloc(0)],
  ['HTML', Buffer.from('<!doctype html><title>GIF89a</title>')],
  ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"/>')],
  ['SVG after an XML declaration', Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['a PNG after a byte order mark', Buffer.concat([hex('efbbbf'), png(64, 64)])],
  ['a PNG after a space', Buffer.concat([Buffer.from(' '), png(64, 64)])],
  ['a PNG read as text', Buffer.from(png(64, 64).toString('utf8'))],
  ['a PNG that begins with another chunk', hex(png(64, 64).toString('hex').replace('49484452', '43674249'))],
  ['a PNG whose header has another length', hex(png(64, 64).toString('hex').replace('0000000d', '0000000e'))],
  ['a GIF of another version', Buffer.from('GIF88a\x40\0\x40\0\0\0\0\0', 'latin1')],
  ['ICO', hex('00000100 01004040 00000100 20002800 00001600 0000')],
  ['BMP', Buffer.concat([Buffer.from('BM'), Buffer.alloc(60, 1)])],
  ['TIFF', Buffer.concat([hex('49492a0008000000'), Buffer.alloc(60, 1)])],
  ['AVIF', Buffer.concat([hex('0000001c'), Buffer.from('ftypavif'), Buffer.alloc(60, 1)])],
  ['PDF', Buffer.from('%PDF-1.7\n%'.padEnd(60))],
  ['WAV', Buffer.concat([Buffer.from('RIFF\x24\0\0\0WAVEfmt '), Buffer.alloc(60, 1)])],
  ['a WebP that begins with another chunk', webp('ALPH', '00'.repeat(40))],
  ['a WebP whose chunk is said to be too short', hex(lossy(64, 64).toString('hex').replace('0a000000', '09000000'))],
  ['a lossy WebP that begins between key frames', webp('VP8 ', '310100 9d012a 4000 4000')],
  ['a lossy WebP without its start code', webp('VP8 ', '300100 9d012b 4000 4000')],
  ['a lossless WebP without its signature', webp('VP8L', '2e 3fc00f00')],
  ['a lossless WebP of a later version', webp('VP8L', '2f 3fc00f20')],
]
test.each(refused)('%s is refused', (_, bytes) => expect(imageOf(bytes)).toBeNull())

describe('arbitrary bytes', () => {
  const soundOrNull = (bytes: Buffer) => {
    const image = imageOf(bytes)
    if (image === null) return
    for (const side of [image.width, image.height]) {
      expect(Number.isInteger(side) && side >= 1 && side <= 8192).toBe(true)
    }
  }
  const valid = fc
    .tuple(fc.constantFrom(...formats), fc.integer({ min: 1, max: 8192 }), fc.integer({ min: 1, max: 8192 }))
    .map(([[, , build], width, height]) => build(width, height))

  test('random bytes give null or a valid size', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => soundOrNull(Buffer.from(bytes))))
  })

  test('images that were cut, changed or extended give null or a valid size', () => {
    const changes = fc.array(fc.tuple(fc.nat(80), fc.nat(255)), { maxLength: 6 })
    fc.assert(
      fc.property(valid, changes, fc.nat(80), fc.uint8Array({ maxLength: 60 }), (image, bytes, end, more) => {
        for (const [at, byte] of bytes) if (at < image.length) image[at] = byte
        soundOrNull(image)
        soundOrNull(Buffer.concat([image.subarray(0, end), more]))
      }),
      { numRuns: 500 },
    )
  })

  test('JPEG segments in any order give null or a valid size', () => {
    const segment = fc.tuple(fc.nat(255), fc.nat(40), fc.uint8Array({ maxLength: 40 }))
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 20 }), (segments) => {
        const parts = segments.map(([marker, length, rest]) => Buffer.from([0xff, marker, 0, length, ...rest]))
        soundOrNull(Buffer.concat([hex('ffd8'), ...parts]))
      }),
    )
  })

  test.each([
    ['fill bytes', 'ff'],
    ['empty segments', 'ffe00002'],
    ['markers that stand alone', 'ffd0'],
  ])('512 KB of %s are read in linear time', async (_, unit) => {
    const bytes = Buffer.concat([hex('ffd8'), Buffer.alloc(512 * 1024, hex(unit))])
    // With quadratic time it would take minutes.
    expect(await processorMs(() => expect(imageOf(bytes)).toBeNull())).toBeLessThan(5000)
  })
})

test.each([
  [64, 64, true],
  [1, 1, true],
  [100, 98, true],
  [98, 100, true],
  [100, 97, false],
  [97, 100, false],
  [50, 49, true],
  [49, 48, false],
  [8192, 8029, true],
  [8192, 8028, false],
  [1, 2, false],
])('whether %i x %i is square: %s', (width, height, square) => expect(isSquare({ width, height })).toBe(square))
