import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { generatedIcon } from './generated.ts'

const shape =
  /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="128" height="128" viewBox="0 0 128 128"><rect width="128" height="128" fill="(#[0-9a-f]{6})"\/>(?:<circle cx="64" cy="64" r="24" fill="#ffffff"\/>|<text x="64" y="64" dy="\.36em" fill="#ffffff" font-family="system-ui, sans-serif" font-size="(?:52|68)" font-weight="600" text-anchor="middle">((?:&#\d{2,7};){1,2})<\/text>)<\/svg>$/

/** The colour and the initials of the icon; throws if it contains anything else. */
function contentOf(seed: string, name: string) {
  const [, colour, references] = shape.exec(generatedIcon(seed, name).toString('latin1')) ?? []
  if (!colour) throw new Error(`an icon of another shape for ${JSON.stringify(name)}`)
  const codes = [...(references ?? '').matchAll(/\d+/g)].map(([code]) => Number(code))
  return { colour, initials: String.fromCodePoint(...codes) }
}

test.each([
  ['Baton', 'B'],
  ['Code Reviewer', 'CR'],
  ['code reviewer bot', 'CR'],
  ['  triage-helper', 'TH'],
  ["Don's agent", 'DA'],
  ['7 dwarves', '7D'],
  ['élan vital', 'ÉV'],
  ['e\u0301lan', 'É'],
  ['ßeta', 'ß'],
  ['ﬁxer', 'F'],
  ['工作 助手', '工助'],
  ['\u1112\u1161\u11ab글', '한'],
  ['ｆｕｌｌ', 'F'],
  ['𝒻ancy', 'F'],
  ['𐐨 deseret', '𐐀D'],
  ['🤖 Robot', 'R'],
  ['👩‍💻', ''],
  ['', ''],
  ['?!', ''],
  ['\u0301\u0301', ''],
  ['\u3164\u200b\ufeff', ''],
  ['\ud83d', ''],
])('the initials of %j are %j', (name, initials) => expect(contentOf('app_1', name).initials).toBe(initials))

describe('a hostile name', () => {
  test.each([
    ['</text><script>alert(1)</script>', 'TS'],
    ['"><image href="https://evil.example/x.png"/>', 'IH'],
    ['" onload="alert(1)', 'OA'],
    ['&lt;script&gt;', 'LS'],
    ['<!ENTITY x SYSTEM "file:///etc/passwd">', 'EX'],
    [']]><style>*{background:url(//evil.example)}</style>', 'SB'],
    ['\0\u0007\u202ea', 'A'],
  ])('%j leaves only its initials', (name, initials) => expect(contentOf('app_1', name).initials).toBe(initials))

  test('loses its combining marks', () =>
    expect(contentOf('app_1', `Z${'\u0335'.repeat(10_000)} algo`).initials).toBe('ZA'))

  test('any text gives at most two letters or digits', () => {
    // Code units, to include lone surrogates.
    const text = fc.array(fc.oneof(fc.nat(0xffff), fc.nat(0x7f))).map((codes) => String.fromCharCode(...codes))
    fc.assert(
      fc.property(text, text, (seed, name) => {
        expect(contentOf(seed, name).initials).toMatch(/^[\p{L}\p{Nd}]{0,2}$/u)
      }),
      { numRuns: 500 },
    )
  })
})

describe('the colour', () => {
  const seeds = Array.from({ length: 400 }, (_, i) => `app_${i}`)
  const colours = [...new Set(seeds.map((seed) => contentOf(seed, 'x').colour))]

  test('depends on the seed, not on the name', () => {
    for (const seed of seeds.slice(0, 20)) expect(contentOf(seed, 'One').colour).toBe(contentOf(seed, 'Another').colour)
    expect(generatedIcon('app_1', 'Baton')).toEqual(generatedIcon('app_1', 'Baton'))
  })

  test('is one of 16', () => expect(colours.length).toBe(16))

  // WCAG 2.2, 1.4.3
  test.each(colours)('%s is dark enough for white letters', (colour) => {
    expect(1.05 / (luminance(colour) + 0.05)).toBeGreaterThanOrEqual(4.5)
  })
})

function luminance(colour: string) {
  const [r = 0, g = 0, b = 0] = [...Buffer.from(colour.slice(1), 'hex')].map((byte) => {
    const part = byte / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
