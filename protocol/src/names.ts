/** What a name is for: an agent's or a person's must not be taken for the service or its built-in agent. */
export type NameKind = 'plain' | 'person' | 'agent' | 'app'

export const builtInName = 'Baton'
/** An agent or a program with such a name would seem to speak for the service. People may be called so. */
const reservedForAgents = [builtInName, 'Admin', 'Administrator', 'Owner', 'System']

const skin = '[\\u{1F3FB}-\\u{1F3FF}]?'
const picture = `\\p{Extended_Pictographic}${skin}\\uFE0F?`
const tags = (text: string) => [...text].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')
/** The only flags that are written with tags: England, Scotland and Wales. */
const flags = ['gbeng', 'gbsct', 'gbwls'].map((region) => `\u{1F3F4}${tags(region)}\u{E007F}`).join('|')
const emoji = new RegExp(`${flags}|[0-9#*]\\uFE0F?\\u20E3|${picture}(?:\\u200D${picture})*`, 'gu')

/** A variation selector that no longer follows a picture: NFKC replaces ™ by letters, but keeps its selector. */
const straySelector = /(?<![\p{Extended_Pictographic}0-9#*])[\uFE0E\uFE0F]/gu
/** Besides Cc and Cf: characters that are drawn as nothing (the Braille blank is one), and line separators. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\uFFFC]/u

/** The form in which a name is stored: NFKC, without spaces at either end. Line breaks stay, to be refused. */
export const normalizeName = (text: string) =>
  text
    .normalize('NFKC')
    .replace(straySelector, '')
    .normalize('NFKC')
    .replace(/^\p{Zs}+|\p{Zs}+$/gu, '')

/** What is wrong with a normalised name, or undefined. Its length is checked elsewhere. */
export function nameProblem(name: string, kind: NameKind): string | undefined {
  if (hidden.test(name.replace(emoji, ''))) {
    return 'must not contain line breaks or other hidden or control characters'
  }
  if (/^\p{M}/u.test(name)) return 'must not begin with a combining mark'
  if (kind === 'app' && comparable(name, ' ').includes(comparable(builtInName))) {
    return `must not contain the name of this service, ${builtInName}`
  }
  const reserved = kind === 'plain' ? [] : kind === 'person' ? [builtInName] : reservedForAgents
  const taken = reserved.find((word) => comparable(word) === comparable(name))
  if (!taken) return undefined
  return taken === builtInName ? 'is the name of the built-in agent' : `is reserved; ${taken} would mislead readers`
}

/** Characters that look like the key, in either letter case; those that NFKD decomposes need no entry. */
const lookAlikes: Record<string, string> = {
  a: 'аαɑⱥᴀ4ꭺ',
  b: 'вьβßƀɓʙ8ᏼꮟƅ',
  c: 'сςᴄ',
  d: 'ԁđɖɗᴅꭰ',
  e: 'еεєɛᴇ3ꭼ',
  h: 'нһħʜ',
  i: 'іιıɩɪӏlłǀ1ꭵ',
  j: 'јϳᴊ',
  k: 'кκᴋ',
  m: 'мμᴍ',
  n: 'пηνոռɲƞŋɴ',
  o: 'оοσօøɵᴏ0ჿ',
  p: 'рρᴘ',
  q: 'ԛ',
  r: 'гʀꮁ',
  s: 'ѕꜱ5ꮪ',
  t: 'тτŧƭᴛ7ꭲ',
  u: 'υսᴜ',
  v: 'ѵᴠ',
  w: 'ԝѡωᴡ',
  x: 'хχ',
  y: 'уγүʏ',
  z: 'ζᴢ',
}
const letterOf = new Map(
  Object.entries(lookAlikes).flatMap(([letter, others]) => [...others].map((other) => [other, letter] as const)),
)

/** Equal for names that look alike. Only for comparison: letter case, accents, spaces and punctuation are lost. */
export function comparable(name: string, keep = ''): string {
  const letters = [...name.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '')].map(
    (one) => letterOf.get(one) ?? one,
  )
  const plain = letters.join('').replaceAll('rn', 'm').replaceAll('vv', 'w')
  return [...plain].filter((one) => one === keep || /[\p{L}\p{N}]/u.test(one)).join('')
}
