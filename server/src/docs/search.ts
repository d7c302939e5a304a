import { anchors, plainText } from './markdown.ts'

/** A part of a page: the text below one heading. */
interface Section {
  page: string
  title: string
  heading: string
  anchor: string
  text: string
  /** For matching, in lower case. */
  lowerTitle: string
  lowerHeading: string
  lowerText: string
}

export interface Result {
  /** Address of the section. */
  href: string
  title: string
  heading: string
  excerpt: string
}

const mostWords = 8
const mostResults = 20
const excerptLength = 160

/** Finds sections of pages by words. */
export class SearchIndex {
  readonly #sections: Section[]

  constructor(pages: Iterable<{ name: string; title: string; markdown: string }>) {
    this.#sections = [...pages].flatMap(sectionsOf)
  }

  /** The best sections that contain every word, or its beginning. */
  find(query: string): Result[] {
    const words = wordsOf(query).map(patternsOf)
    if (words.length === 0) return []
    return this.#sections
      .map((section) => ({ section, score: scoreOf(section, words) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, mostResults)
      .map(({ section }) => ({
        href: `/docs/${section.page}${section.anchor && `#${section.anchor}`}`,
        title: section.title,
        heading: section.heading,
        excerpt: excerptOf(section, words),
      }))
  }
}

export const wordsOf = (query: string): string[] =>
  [...new Set(query.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? [])].slice(0, mostWords)

/** A pattern for words that begin with this one: "ping" is found in "pings", but not in "mapping". */
export const beginningOf = (word: string) => `(?<![\\p{L}\\p{N}])${word}`

const patternsOf = (text: string) => ({
  text,
  beginning: new RegExp(beginningOf(text), 'u'),
  whole: new RegExp(`${beginningOf(text)}(?![\\p{L}\\p{N}])`, 'u'),
})
type Word = ReturnType<typeof patternsOf>

/** A page before its first heading is a section too, with the title as its heading. */
function sectionsOf({ name, title, markdown }: { name: string; title: string; markdown: string }): Section[] {
  const anchorFor = anchors()
  const sections: Section[] = []
  let [heading, anchor, lines] = [title, '', [] as string[]]
  let inCode = false
  const close = () => {
    const text = plainText(lines.join(' ').replace(/\|(?:\s*-+\s*\|)+|\|/g, ' '))
      .replace(/\s+/g, ' ')
      .trim()
    const lower = {
      lowerTitle: title.toLowerCase(),
      lowerHeading: heading.toLowerCase(),
      lowerText: text.toLowerCase(),
    }
    sections.push({ page: name, title, heading, anchor, text, ...lower })
  }
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) {
      inCode = !inCode
      continue
    }
    const [, depth, text = ''] = (!inCode && /^(#+) (.+)$/.exec(line)) || []
    if (depth === undefined) lines.push(line)
    else if (depth !== '#') {
      close()
      ;[heading, anchor, lines] = [plainText(text), anchorFor(text), []]
    }
  }
  close()
  return sections
}

/** 0 if a word is missing. A word in the heading counts most. */
function scoreOf({ lowerTitle, lowerHeading, lowerText, anchor }: Section, words: Word[]): number {
  let score = lowerHeading === words.map(({ text }) => text).join(' ') ? 100 : 0
  for (const word of words) {
    const found = 40 * matchOf(lowerHeading, word) + 15 * matchOf(lowerTitle, word) + 4 * matchOf(lowerText, word)
    if (found === 0) return 0
    score += found
  }
  // The beginning of a page says what the page is about.
  return anchor === '' ? score * 1.2 : score
}

/** 2 for the whole word, 1 for the beginning of a longer one, 0 if absent. */
const matchOf = (text: string, { beginning, whole }: Word) => (whole.test(text) ? 2 : beginning.test(text) ? 1 : 0)

/** The text around the first word found. */
function excerptOf({ text, lowerText }: Section, words: Word[]): string {
  const first = Math.min(
    ...words.map(({ beginning }) => lowerText.search(beginning)).filter((at) => at >= 0),
    text.length,
  )
  const from = first >= text.length ? 0 : Math.max(0, text.lastIndexOf(' ', Math.max(0, first - 40)) + 1)
  const excerpt = text.slice(from, from + excerptLength)
  const whole = from + excerptLength >= text.length ? excerpt : excerpt.slice(0, excerpt.lastIndexOf(' '))
  return `${from > 0 ? '… ' : ''}${whole}${from + excerptLength < text.length ? ' …' : ''}`
}
