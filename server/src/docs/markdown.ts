import { Marked, Renderer, type Tokens } from 'marked'

export interface Rendered {
  html: string
  /** Ids of the headings. */
  anchors: string[]
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

const base = Renderer.prototype

/** Renders one of our own pages. Although it is trusted, raw HTML and images are escaped. */
export function render(markdown: string, hrefOf: (href: string) => string): Rendered {
  const anchors: string[] = []
  const anchorFor = (heading: string) => {
    const anchor = anchorOf(heading)
    const same = anchors.filter((other) => other === anchor || other.replace(/-\d+$/, '') === anchor).length
    const own = same === 0 ? anchor : `${anchor}-${same}`
    anchors.push(own)
    return own
  }
  const marked = new Marked({ gfm: true, async: false })
  marked.use({
    renderer: {
      // Comments are notes for authors.
      html: ({ text }: Tokens.HTML | Tokens.Tag) => (/^<!--[^>]*-->\s*$/.test(text) ? '' : escapeHtml(text)),
      image: ({ text }) => escapeHtml(text),
      // Wide blocks scroll on their own, so they must be focusable by keyboard.
      code(token) {
        return base.code.call(this, token).replace('<pre>', '<pre tabindex="0">')
      },
      table(token) {
        return `<div class="wide" tabindex="0">\n${base.table.call(this, token)}</div>\n`
      },
      heading({ tokens, depth, text }) {
        const inner = this.parser.parseInline(tokens)
        if (depth === 1) return `<h1>${inner}</h1>\n`
        const anchor = anchorFor(text)
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${inner}</a></h${depth}>\n`
      },
      link({ href, tokens }) {
        return `<a href="${escapeHtml(hrefOf(href))}">${this.parser.parseInline(tokens)}</a>`
      },
    },
  })
  return { html: marked.parse(markdown) as string, anchors }
}
