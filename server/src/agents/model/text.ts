/** What a model or a stranger wrote, as the database holds it and within a limit. */
export function clean(text: string, maxCharacters: number): string {
  const held = text
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replaceAll('\0', '')
    .trim()
  // No text has more characters than units; only one that is long is counted.
  if (held.length <= maxCharacters) return held
  const characters = [...held]
  return characters.length <= maxCharacters ? held : `${characters.slice(0, maxCharacters - 1).join('')}…`
}

/** On one line, for the list of what an agent did. */
export const inBrief = (text: string) => clean(text.replace(/\s+/g, ' '), 200)

/** Cut with a word about it, so that nobody takes a part for the whole. */
export function cutOff(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text
  return `${text.slice(0, maxCharacters)}\n[cut here: these are the first ${maxCharacters} of ${text.length} characters; ask for less]`
}
