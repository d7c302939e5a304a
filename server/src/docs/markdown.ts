import { Marked, Renderer, type Tokens } from 'marked'

export interface Rendered {
  html: string
  /** Every place in it that a link can lead to. */
  anchors: string[]
}

export const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** What of a heading stands after # in a link: as repositories show it, except that names of the API keep their case. */
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

const usual = Renderer.prototype

/** HTML of a page of ours. It is trusted, and still nothing in it becomes a tag, a script or a picture by itself. */
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
      // A remark to who writes the page.
      html: ({ text }: Tokens.HTML | Tokens.Tag) => (/^<!--[^>]*-->\s*$/.test(text) ? '' : escapeHtml(text)),
      image: ({ text }) => escapeHtml(text),
      // What is wider than the page scrolls by itself, and keys must reach it.
      code(token) {
        return usual.code.call(this, token).replace('<pre>', '<pre tabindex="0">')
      },
      table(token) {
        return `<div class="wide" tabindex="0">\n${usual.table.call(this, token)}</div>\n`
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
