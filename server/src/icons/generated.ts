import { createHash } from 'node:crypto'

/** Dark enough for white letters. */
const colours = [
  '#b3261e',
  '#9a3412',
  '#854d0e',
  '#4d6b12',
  '#166534',
  '#0f766e',
  '#0e7490',
  '#0369a1',
  '#1d4ed8',
  '#4338ca',
  '#6d28d9',
  '#86198f',
  '#9d174d',
  '#be123c',
  '#475569',
  '#57534e',
] as const

/** An SVG with the initials of the name; the seed decides the colour. */
export function generatedIcon(seed: string, name: string): Buffer {
  const hash = createHash('sha256').update(seed).digest()
  const colour = colours[hash.readUInt8(0) % colours.length]
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="128" height="128" viewBox="0 0 128 128">` +
      `<rect width="128" height="128" fill="${colour}"/>${foreground(initialsOf(name))}</svg>`,
  )
}

function foreground(initials: string[]) {
  if (initials.length === 0) return '<circle cx="64" cy="64" r="24" fill="#ffffff"/>'
  const fontSize = initials.length === 1 ? 68 : 52
  return (
    `<text x="64" y="64" dy=".36em" fill="#ffffff" font-family="system-ui, sans-serif" font-size="${fontSize}" ` +
    `font-weight="600" text-anchor="middle">${initials.map(reference).join('')}</text>`
  )
}

/** A numeric character reference, so that no character of a name can be parsed as markup. */
const reference = (letter: string) => `&#${letter.codePointAt(0)};`

/** Without invisible filler letters. */
const letterOrDigit = /(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{Nd}]/u
const betweenWords = /[^\p{L}\p{M}\p{N}'’]+/u

/** NFKC first, so that a letter with its accent is one character; other marks are dropped. */
function initialsOf(name: string): string[] {
  const words = name.normalize('NFKC').split(betweenWords)
  return words
    .flatMap((word) => letterOrDigit.exec(word)?.[0] ?? [])
    .slice(0, 2)
    .map(inUpperCase)
}

/** Unchanged where upper case would be longer, as with ß. */
function inUpperCase(letter: string) {
  const upper = letter.toUpperCase()
  return [...upper].length === 1 ? upper : letter
}
