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
    const words = wordsOf(query)
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

/** 0 if a word is missing. A word in the heading counts most, at the beginning of a word more than inside one. */
function scoreOf({ lowerTitle, lowerHeading, lowerText, anchor }: Section, words: string[]): number {
  let score = lowerHeading === words.join(' ') ? 100 : 0
  for (const word of words) {
    const found = 40 * matchOf(lowerHeading, word) + 15 * matchOf(lowerTitle, word) + 4 * matchOf(lowerText, word)
    if (found === 0) return 0
    score += found
  }
  // The beginning of a page says what the page is about.
  return anchor === '' ? score * 1.2 : score
}

/** 2 at the beginning of a word, 1 inside a word, 0 if absent. */
function matchOf(text: string, word: string): number {
  const at = text.indexOf(word)
  if (at < 0) return 0
  for (let next = at; next >= 0; next = text.indexOf(word, next + 1)) {
    if (next === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(next - 1))) return 2
  }
  return 1
}

/** The text around the first word found. */
function excerptOf({ text, lowerText }: Section, words: string[]): string {
  const first = Math.min(...words.map((word) => lowerText.indexOf(word)).filter((at) => at >= 0), text.length)
  const from = first >= text.length ? 0 : Math.max(0, text.lastIndexOf(' ', Math.max(0, first - 40)) + 1)
  const excerpt = text.slice(from, from + excerptLength)
  const whole = from + excerptLength >= text.length ? excerpt : excerpt.slice(0, excerpt.lastIndexOf(' '))
  return `${from > 0 ? '… ' : ''}${whole}${from + excerptLength < text.length ? ' …' : ''}`
}
