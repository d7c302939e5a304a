/**
 * Characters that a reader cannot see, or that change the order of those around them: controls except the tab, format
 * characters (bidirectional, zero-width, tags), line separators, lone surrogates, empty letters and selectors.
 */
const hidden = /[^\P{Cc}\t]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115F\u1160\u3164\uFFA0]|[\u{E0100}-\u{E01EF}]/gu

export interface TextPart {
  text: string
  /** Whether `text` is the name of a character that cannot be seen, such as U+202E. */
  isName: boolean
}

const nameOf = (character: string) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** The text in parts, with the names of characters that cannot be seen in their place. */
export function visibleParts(text: string): TextPart[] {
  const parts: TextPart[] = []
  let from = 0
  for (const { 0: character, index } of text.matchAll(hidden)) {
    if (index > from) parts.push({ text: text.slice(from, index), isName: false })
    parts.push({ text: nameOf(character), isName: true })
    from = index + character.length
  }
  if (from < text.length) parts.push({ text: text.slice(from), isName: false })
  return parts
}

/** The same as one string, for labels and for text to copy. */
export const visibleText = (text: string) => text.replace(hidden, (character) => `<${nameOf(character)}>`)
