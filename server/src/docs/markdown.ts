import { Marked, Renderer, type Tokens } from 'marked'

export interface Heading {
  depth: number
  /** As plain text. */
  text: string
  anchor: string
}

export interface Rendered {
  html: string
  /** Without the title of the page. */
  headings: Heading[]
}

export const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** The id of a heading, built as code hosting sites do, except that API names in backticks keep their case. */
export function anchorOf(heading: string): string {
  const [, name] = /^`(\w+)`$/.exec(heading) ?? []
  return (
    name ??
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-')
  )
}

/** Text of Markdown without its marks. */
export const plainText = (markdown: string) =>
  markdown
    .replace(/\[([^\]]*)\]\([^)\s]*\)/g, '$1')
    .replace(/\\([\\`*_[\]<>|(])/g, '$1')
    .replace(/`|\*\*/g, '')

/** Unique anchors for the headings of one page, in order. */
export function anchors(): (heading: string) => string {
  const used: string[] = []
  return (heading) => {
    const anchor = anchorOf(heading)
    const same = used.filter((other) => other === anchor || other.replace(/-\d+$/, '') === anchor).length
    const own = same === 0 ? anchor : `${anchor}-${same}`
    used.push(own)
    return own
  }
}

const base = Renderer.prototype

/** What kind of text a block of code contains, from the word after its language. */
const blockLabels: Record<string, string> = { curl: 'curl', sdk: 'TypeScript' }

/** Renders one of our own pages. Although it is trusted, raw HTML and foreign images are escaped. */
export function render(markdown: string, hrefOf: (href: string) => string): Rendered {
  const headings: Heading[] = []
  const anchorFor = anchors()
  const marked = new Marked({ gfm: true, async: false })
  marked.use({
    renderer: {
      // Comments are notes for authors.
      html: ({ text }: Tokens.HTML | Tokens.Tag) => (/^<!--[^>]*-->\s*$/.test(text) ? '' : escapeHtml(text)),
      image({ href, text }) {
        const source = hrefOf(href)
        if (!source.startsWith('/docs/pictures/')) return escapeHtml(text)
        return `<img src="${escapeHtml(source)}" alt="${escapeHtml(text)}" loading="lazy">`
      },
      // Wide blocks scroll on their own, so they must be focusable by keyboard.
      code(token) {
        const label = blockLabels[(token.lang ?? '').split(' ')[1] ?? '']
        const block = base.code.call(this, token).replace('<pre>', '<pre tabindex="0">')
        return `<div class="code">${label ? `<p class="label">${label}</p>` : ''}${block}</div>\n`
      },
      table(token) {
        return `<div class="wide" tabindex="0">\n${base.table.call(this, token)}</div>\n`
      },
      heading({ tokens, depth, text }) {
        const inner = this.parser.parseInline(tokens)
        if (depth === 1) return `<h1>${inner}</h1>\n`
        const anchor = anchorFor(text)
        headings.push({ depth, text: plainText(text), anchor })
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${inner}</a></h${depth}>\n`
      },
      link({ href, tokens }) {
        return `<a href="${escapeHtml(hrefOf(href))}">${this.parser.parseInline(tokens)}</a>`
      },
    },
  })
  return { html: marked.parse(markdown) as string, headings }
}
