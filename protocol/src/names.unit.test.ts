import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { comparable, type NameKind, nameProblem, normalizeName } from './names.ts'

const problemOf = (text: string, kind: NameKind = 'plain') => nameProblem(normalizeName(text), kind)

describe('normalising', () => {
  test.each([
    ['  Robot ', 'Robot'],
    ['Ｒｏｂｏｔ', 'Robot'],
    ['Acme™\uFE0F', 'AcmeTM'],
    ['\u3000Robot\u00A0', 'Robot'],
    ['Ame\u0301lie', 'Amélie'],
    ['👩\u200D💻 Team', '👩\u200D💻 Team'],
    ['❤\uFE0F', '❤\uFE0F'],
  ])('%j becomes %j', (text, name) => expect(normalizeName(text)).toBe(name))

  test('is idempotent', () => {
    fc.assert(fc.property(anyName, (text) => normalizeName(normalizeName(text)) === normalizeName(text)))
  })
})

describe('a name', () => {
  test.each(
    // A newline, NUL, soft hyphen, zero-width space and joiners, a direction override and isolate, a byte order mark, a
    // grapheme joiner, a Hangul filler, a line separator, a tag, a Braille blank.
    '\n \0 \u00AD \u200B \u200C \u200D \u202E \u2066 \uFEFF \u034F \u3164 \u2028 \u{E0041} \u2800'
      .split(' ')
      .flatMap((character) => [`Ro${character}bot`, `Robot${character}`, `${character}Robot`]),
  )('must not contain hidden characters: %j', (text) => {
    expect(problemOf(text)).toBe('must not contain line breaks or other hidden or control characters')
  })

  test.each([
    '👩\u200D💻 Team',
    '👩🏽\u200D❤\uFE0F\u200D👨🏻',
    '🏳\uFE0F\u200D🌈',
    '1\uFE0F\u20E3 First',
    '\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F} England',
    'José Ñandú',
    'Ωμέγα',
    'עדה',
    'Борис',
    '山田 太郎',
    'O’Neill-Smith & Sons (2)',
  ])('may be %j', (text) => {
    expect(problemOf(text)).toBeUndefined()
    expect(problemOf(text, 'app')).toBeUndefined()
    expect(normalizeName(text)).toBe(text)
  })

  test('must not use a joiner or tags outside of an emoji', () => {
    for (const text of ['a\u200D💻', '💻\u200D', '💻\u200D\u200D💻', '\u{1F3F4}\u{E0067}\u{E007F}', 'a\u{E0100}']) {
      expect(problemOf(text), JSON.stringify(text)).toBeTruthy()
    }
  })

  test('must not begin with a mark that would be drawn on the text before it', () => {
    expect(problemOf('\u0301Robot')).toBe('must not begin with a combining mark')
    expect(problemOf('´Robot')).toBe('must not begin with a combining mark')
    expect(problemOf('R\u0301obot')).toBeUndefined()
  })

  test('that is accepted has no hidden character outside of emoji, whatever was sent', () => {
    const joiner = /\p{Extended_Pictographic}[\u{1F3FB}-\u{1F3FF}]?\uFE0F?\u200D(?=\p{Extended_Pictographic})/gu
    const selector = /(?<=\p{Extended_Pictographic}|[\u{1F3FB}-\u{1F3FF}]|[0-9#*])\uFE0F/gu
    fc.assert(
      fc.property(anyName, (text) => {
        const name = normalizeName(text)
        if (nameProblem(name, 'plain')) return
        const rest = name
          .replace(/\u{1F3F4}[\u{E0061}-\u{E007F}]{6}/gu, '')
          .replace(joiner, '')
          .replace(selector, '')
        expect(rest).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029\u115F\u1160\u3164]|[\uFE00-\uFE0F]/u)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('the name of the built-in agent', () => {
  // Spaces, punctuation, emoji, accents, full width, Cyrillic, all capitals in Greek, digits.
  const looksSame = 'Baton|BATON| B a t o n |@B-aton!|Baton 🤖|Bâtön|Ｂａｔｏｎ|Ваtоn|ΒΑΤΟΝ|bat0n|ᏼaton|ßaton'.split(
    '|',
  )

  test.each(looksSame)('is refused for people and agents: %j', (text) => {
    for (const kind of ['person', 'agent', 'app'] as const) {
      expect(problemOf(text, kind), kind).toMatch(/Baton|built-in agent/)
    }
    expect(problemOf(text)).toBeUndefined()
  })

  test('may be part of a name of people and personal agents, not of an app', () => {
    for (const text of ['Baton Rouge', 'My Вatоn bot', 'B-aton helper', 'MyBATONbot']) {
      expect(problemOf(text, 'person')).toBeUndefined()
      expect(problemOf(text, 'agent')).toBeUndefined()
      expect(problemOf(text, 'app')).toBe('must not contain the name of this service, Baton')
    }
    for (const text of ['Alba Tone', 'Club at One', 'Batch', 'Robot']) expect(problemOf(text, 'app')).toBeUndefined()
  })
})

test('words for those who run the service are refused for agents, not for people', () => {
  for (const text of ['Admin', 'Аdmіn', 'adrnin', 'ADMlN', 'System', 'Administrator', 'Ovvner']) {
    expect(problemOf(text, 'agent'), text).toMatch(/is reserved/)
    expect(problemOf(text, 'app'), text).toMatch(/is reserved/)
    expect(problemOf(text, 'person'), text).toBeUndefined()
  }
  for (const text of ['Admin helper', 'Systems', 'Ada']) expect(problemOf(text, 'agent')).toBeUndefined()
})

test('different names stay different', () => {
  expect(comparable('Ada')).not.toBe(comparable('Ida'))
  expect(comparable('山田')).not.toBe(comparable('太郎'))
  expect(comparable('🤖')).toBe('')
})

const special =
  '\u200B \u200D \uFE0F \uFE0E \u202E \u0301 \u0338 \u034F ↔ ™ ´ 👩 💻 🏽 🏴 1 # \u20E3 e \n \u{E0067} \u{E007F}'
const anyName = fc
  .array(fc.oneof(fc.constantFrom(...special.split(' '), ' '), fc.string({ unit: 'binary', maxLength: 3 })), {
    maxLength: 8,
  })
  .map((parts) => parts.join(''))
