/** Path separators, control characters, line separators, and marks that change the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const removed = /[/\\\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

/** The name as it is stored and shown. */
export function cleanName(name: string): string {
  const clean = name.normalize('NFC').replace(removed, '').trim()
  return /^\.*$/.test(clean) ? 'file' : clean
}

/** RFC 6266: old programs read `filename`, all others `filename*`. */
export function disposition(inline: boolean, name: string): string {
  const plain = name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_')
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${inline ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${encoded}`
}
