/** Removes characters that the database cannot store, and cuts the text to the limit. */
export function cleanText(text: string, maxCharacters: number): string {
  const storable = text
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replaceAll('\0', '')
    .trim()
  // `length` counts UTF-16 units, never fewer than characters, so only longer texts have to be split.
  if (storable.length <= maxCharacters) return storable
  const characters = [...storable]
  return characters.length <= maxCharacters ? storable : `${characters.slice(0, maxCharacters - 1).join('')}…`
}

/** For the list of actions. */
export const oneLine = (text: string) => cleanText(text.replace(/\s+/g, ' '), 200)

/** Cuts the text and appends a notice, so that the model knows that it is incomplete. */
export function truncate(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text
  return `${text.slice(0, maxCharacters)}\n[truncated to the first ${maxCharacters} of ${text.length} characters; request less]`
}
