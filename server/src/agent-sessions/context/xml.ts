/** XML 1.0 has no way to write these, not even as a reference: most control characters, half a surrogate pair. */
const notInXml = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu

const references: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&apos;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}
const reference = (character: string) => references[character] ?? character

/** A parser would read a bare carriage return as a line feed, and every white space of an attribute as a space. */
export const escapedText = (text: string) => text.replace(notInXml, '\uFFFD').replace(/[&<>\r]/g, reference)
const escapedAttribute = (text: string) => text.replace(notInXml, '\uFFFD').replace(/[&<>'"\t\n\r]/g, reference)

/**
 * More than any name, title or address can have when each of its characters is written as a reference. It is there for
 * the sum: what cannot be left out of a document is sure to fit.
 */
const shortBytes = 4096
const short = (escaped: string) => cut(escaped, shortBytes)

const tag = (name: string, attributes: Record<string, string>) =>
  [name, ...Object.entries(attributes).map(([key, value]) => `${key}='${short(escapedAttribute(value))}'`)].join(' ')

export const opening = (name: string, attributes: Record<string, string> = {}) => `<${tag(name, attributes)}>`
export const closing = (name: string) => `</${name}>`
export const empty = (name: string, attributes: Record<string, string>) => `<${tag(name, attributes)}/>`
export const element = (name: string, text: string) => `<${name}>${short(escapedText(text))}</${name}>`

const mark = '…'
const markBytes = Buffer.byteLength(mark)

/** As much of an escaped text as there is room for, with a mark where it was cut; the mark itself always stays. */
export function cut(escaped: string, room: number): string {
  if (Buffer.byteLength(escaped) <= Math.max(room, markBytes)) return escaped
  const bytes = Buffer.from(escaped)
  return bytes.toString('utf8', 0, boundary(bytes, Math.max(room - markBytes, 0))) + mark
}

/** The last place, not after this one, that is neither inside a character nor inside a reference. */
function boundary(bytes: Buffer, place: number): number {
  let end = place
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  const ampersand = bytes.subarray(0, end).lastIndexOf('&')
  return ampersand >= 0 && bytes.indexOf(';', ampersand) >= end ? ampersand : end
}
