/** Not allowed in XML 1.0, not even as a reference: most control characters and unpaired surrogates. */
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

/** A parser reads a bare carriage return as a line feed, and any white space in an attribute as a space. */
export const escapedText = (text: string) => text.replace(notInXml, '\uFFFD').replace(/[&<>\r]/g, reference)
const escapedAttribute = (text: string) => text.replace(notInXml, '\uFFFD').replace(/[&<>'"\t\n\r]/g, reference)

/**
 * More than any name, title or URL needs, even if each of its characters is written as a reference. It guarantees that the
 * required parts of a document fit.
 */
const shortBytes = 4096
const short = (escaped: string) => cut(escaped, shortBytes)

const tag = (name: string, attributes: Record<string, string>) =>
  [name, ...Object.entries(attributes).map(([key, value]) => `${key}='${short(escapedAttribute(value))}'`)].join(' ')

export const opening = (name: string, attributes: Record<string, string> = {}) => `<${tag(name, attributes)}>`
export const closing = (name: string) => `</${name}>`
export const empty = (name: string, attributes: Record<string, string>) => `<${tag(name, attributes)}/>`
export const element = (name: string, text: string) => `<${name}>${short(escapedText(text))}</${name}>`

const ellipsis = '…'
const ellipsisBytes = Buffer.byteLength(ellipsis)

/** Cuts an escaped text to at most `maxBytes`, with an ellipsis at the end. The ellipsis is added in any case. */
export function cut(escaped: string, maxBytes: number): string {
  if (Buffer.byteLength(escaped) <= Math.max(maxBytes, ellipsisBytes)) return escaped
  const bytes = Buffer.from(escaped)
  return bytes.toString('utf8', 0, boundary(bytes, Math.max(maxBytes - ellipsisBytes, 0))) + ellipsis
}

/** The last position up to `limit` that is not inside a character or a reference. */
function boundary(bytes: Buffer, limit: number): number {
  let end = limit
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  const ampersand = bytes.subarray(0, end).lastIndexOf('&')
  return ampersand >= 0 && bytes.indexOf(';', ampersand) >= end ? ampersand : end
}
