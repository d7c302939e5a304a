import { describe, expect, test } from 'vitest'
import { verifies } from '../../../conformance/requirements.ts'
import { png } from '../../test/files.ts'
import { TypeDetector } from './media-type.ts'

/** Byte by byte and at once: the result does not depend on how the bytes arrive. */
function typeOf(content: Buffer | string) {
  const bytes = Buffer.from(content)
  const [whole, parts] = [new TypeDetector(), new TypeDetector()]
  whole.push(bytes)
  for (let at = 0; at < Math.min(bytes.length, 5000); at++) parts.push(bytes.subarray(at, at + 1))
  if (bytes.length > 5000) parts.push(bytes.subarray(5000))
  expect(parts.result()).toEqual(whole.result())
  return whole.result()
}

const other = { media_type: 'application/octet-stream', inline: false, width: null, height: null }
const box = (type: string, ...content: Buffer[]) => {
  const body = Buffer.concat(content)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(body.length + 8)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, body])
}
const number = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const avif = (width: number, height: number) =>
  Buffer.concat([
    box('ftyp', Buffer.from('avif\0\0\0\0avifmif1', 'latin1')),
    box(
      'meta',
      number(0),
      box(
        'iprp',
        box(
          'ipco',
          box('ispe', number(0), number(10), number(10)),
          box('ispe', number(0), number(width), number(height)),
        ),
      ),
    ),
  ])
const jpeg = (width: number, height: number, metadata = 0) => {
  const segment = (marker: number, content: Buffer) =>
    Buffer.concat([Buffer.from([0xff, marker, (content.length + 2) >> 8, (content.length + 2) & 255]), content])
  const frame = Buffer.from([8, height >> 8, height & 255, width >> 8, width & 255, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0])
  const exif = Array.from({ length: metadata }, () => segment(0xe1, Buffer.alloc(60_000, 0xff)))
  return Buffer.concat([Buffer.from([0xff, 0xd8]), ...exif, segment(0xc4, Buffer.alloc(20)), segment(0xc2, frame)])
}
const gif = (width: number, height: number) => {
  const bytes = Buffer.from('GIF89a\0\0\0\0\0\0\0', 'latin1')
  bytes.writeUInt16LE(width, 6)
  bytes.writeUInt16LE(height, 8)
  return bytes
}
function webp(kind: 'VP8 ' | 'VP8L' | 'VP8X', width: number, height: number) {
  const bytes = Buffer.alloc(40)
  bytes.write(`RIFF\0\0\0\0WEBP${kind}`, 'latin1')
  if (kind === 'VP8 ') bytes.set([width & 255, width >> 8, height & 255, height >> 8], 26)
  else if (kind === 'VP8L') bytes.writeUInt32LE((width - 1) | ((height - 1) << 14), 21)
  else {
    bytes.writeUIntLE(width - 1, 24, 3)
    bytes.writeUIntLE(height - 1, 27, 3)
  }
  return bytes
}

describe('images', () => {
  test.each([
    ['image/png', png(640, 480)],
    ['image/jpeg', jpeg(640, 480)],
    ['image/jpeg', jpeg(640, 480, 3)],
    ['image/gif', gif(640, 480)],
    ['image/webp', webp('VP8 ', 640, 480)],
    ['image/webp', webp('VP8L', 640, 480)],
    ['image/webp', webp('VP8X', 640, 480)],
    ['image/avif', avif(640, 480)],
  ])('%s is shown with its size', (media_type, bytes) => {
    expect(typeOf(bytes)).toEqual({ media_type, inline: true, width: 640, height: 480 })
  })

  test('too large ones are not shown', verifies('file.oversized-image-not-inline'), () => {
    const shown = (width: number, height: number) => typeOf(png(width, height)).inline
    expect([shown(16_384, 1), shown(16_385, 1), shown(1, 16_384), shown(1, 16_385)]).toEqual([true, false, true, false])
    expect([shown(10_000, 5000), shown(10_000, 5001)]).toEqual([true, false])
    // A picture of 16 gigapixels in a few bytes: its header is all that is read.
    expect(typeOf(png(4_000_000_000, 4_000_000_000))).toMatchObject({ media_type: 'image/png', inline: false })
    for (const bytes of [
      gif(65_535, 65_535),
      jpeg(65_535, 65_535),
      webp('VP8X', 16_000_000, 16_000_000),
      avif(20_000, 20_000),
    ]) {
      expect(typeOf(bytes)).toMatchObject({ media_type: expect.stringMatching(/^image/), inline: false })
    }
  })

  test('broken or cut ones have no type', () => {
    for (const bytes of [
      png().subarray(0, 20),
      png(0, 5),
      jpeg(5, 5).subarray(0, 20),
      gif(5, 5).subarray(0, 7),
      avif(5, 5).subarray(0, 60),
    ]) {
      expect(typeOf(bytes)).toEqual(other)
    }
    // Its frame comes after more metadata than is kept.
    expect(typeOf(jpeg(640, 480, 5))).toEqual(other)
    expect(typeOf(Buffer.concat([Buffer.from('ffd8ffe1ffff', 'hex'), Buffer.alloc(100, 0xff)]))).toEqual(other)
  })
})

test('videos are shown', () => {
  const mp4 = box('ftyp', Buffer.from('isom\0\0\0\0isomiso2avc1mp41', 'latin1'))
  const webm = Buffer.concat([Buffer.from('1a45dfa39f4286810142f7810142f2810442f381084282847765626d', 'hex')])
  expect(typeOf(mp4)).toMatchObject({ media_type: 'video/mp4', inline: true })
  expect(typeOf(webm)).toMatchObject({ media_type: 'video/webm', inline: true })
  expect(typeOf(Buffer.from('1a45dfa39f42868101', 'hex'))).toEqual(other)
})

test('text and PDF are recognized, markup and programs are not', verifies('file.svg-never-inline'), () => {
  const plain = { media_type: 'text/plain', inline: false }
  expect(typeOf('Hello\n\tworld, naïve\r\n')).toMatchObject(plain)
  expect(typeOf('alert(document.cookie)')).toMatchObject(plain)
  expect(typeOf('%PDF-1.7\n%âãÏÓ')).toMatchObject({ media_type: 'application/pdf', inline: false })
  for (const text of [
    '<!doctype html><script>alert(1)</script>',
    '  \n<html>',
    '\ufeff<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
    '<?xml version="1.0"?><a/>',
    '<script>',
    'nul \0 inside',
    'bell \x07',
    '',
  ]) {
    expect(typeOf(text)).toEqual(other)
  }
  expect(typeOf(Buffer.from([0x68, 0x69, 0xff]))).toEqual(other)
  expect(typeOf(Buffer.from('naïve').subarray(0, 3))).toEqual(other)
})

test('a file of two types is what its first bytes say, and only that', verifies('file.type-by-content'), () => {
  expect(typeOf(png(2, 2, '<script>alert(1)</script>'))).toMatchObject({ media_type: 'image/png' })
  expect(typeOf('GIF89a/*\x01\x01*/=1;alert(1)')).toMatchObject({ media_type: 'image/gif' })
  expect(typeOf(`<!--${png().toString('latin1')}--><script>`)).toEqual(other)
  expect(typeOf(`/*%PDF-1.7*/`)).toMatchObject({ media_type: 'text/plain' })
})
