import { readdirSync, readFileSync } from 'node:fs'
import { errorsPage } from './errors-page.ts'
import { render } from './markdown.ts'
import { pageHtml } from './page.ts'
import { referencePage } from './reference.ts'

export interface Page {
  /** The page is at /docs/{name}. */
  name: string
  title: string
  /** One sentence for the lists of pages. */
  line: string
  markdown: string
  html: string
  anchors: string[]
}

export interface Library {
  pages: ReadonlyMap<string, Page>
  index: string
  llms: string
  style: string
}

/** The repository: three levels up, both from the sources and from the build. */
const root = new URL('../../../', import.meta.url)

/** Reading order. Guides that are in neither list come between the two. */
const order = ['api', 'webhooks', 'agent-apps', 'agent-sessions', 'building-agents', 'sdk', 'cli', 'mcp']
const last = ['running', 'postgres', 'growing', 'reference', 'errors']

let library: Library | undefined

/** Read at the first request, not at the start of the service. */
export function openLibrary(): Library {
  library ??= readLibrary()
  return library
}

function readLibrary(): Library {
  const sources = readSources()
  const texts = [...sources].map(([name, source]) => ({ name, ...summaryOf(source), markdown: servedLinks(source) }))
  return {
    pages: new Map(texts.map((text) => [text.name, pageOf(text, texts)])),
    index: indexOf(texts),
    llms: llmsOf(texts),
    style: readFileSync(new URL('docs/style.css', root), 'utf8'),
  }
}

/** Rendered at the first request. */
function pageOf(text: Omit<Page, 'html' | 'anchors'>, all: Text[]): Page {
  let rendered: Pick<Page, 'html' | 'anchors'> | undefined
  const look = () => {
    if (!rendered) {
      const { html, anchors } = render(text.markdown, hrefOf)
      rendered = { anchors, html: pageHtml({ title: text.title, body: html, current: text.name, pages: all }) }
    }
    return rendered
  }
  return {
    ...text,
    get html() {
      return look().html
    },
    get anchors() {
      return look().anchors
    },
  }
}

/** Markdown by the name of its page, in reading order. */
function readSources(): Map<string, string> {
  const guides = readdirSync(new URL('docs/guides/', root)).filter((file) => file.endsWith('.md'))
  const sources = new Map([
    ...guides.map((file) => [file.slice(0, -3), read(`docs/guides/${file}`)] as const),
    ['sdk', read('sdk/README.md')],
    ['reference', referencePage()],
    ['errors', errorsPage()],
  ])
  return new Map([...sources].sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b)))
}

const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

function rank(name: string): number {
  if (last.includes(name)) return order.length + 1 + last.indexOf(name)
  return order.includes(name) ? order.indexOf(name) : order.length
}

type Text = Pick<Page, 'name' | 'title' | 'line'>

/** A page's title, and the first sentence of its first paragraph. */
export function summaryOf(markdown: string): { title: string; line: string } {
  const blocks = markdown.split(/\n{2,}/)
  const title = blocks[0]?.replace(/^# /, '').trim() ?? ''
  const paragraph = blocks.slice(1).find((block) => /^[A-Za-z`*]/.test(block.trim())) ?? ''
  const [sentence] = /^[\s\S]*?\.(?=\s|$)/.exec(paragraph) ?? [paragraph]
  return { title, line: sentence.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replace(/\.$/, '') }
}

/** All pages are served from one folder. A link to a file that is not served becomes the path of the file. */
export const servedLinks = (markdown: string) =>
  markdown.replaceAll('](../../sdk/README.md', '](sdk.md').replace(/\[([^\]]+)\]\((?:\.\.\/)+([^)]+)\)/g, '$1 (`$2`)')

/** Links between HTML pages have no `.md`. */
export const hrefOf = (href: string) => href.replace(/^([\w-]+)\.md(?=#|$)/, '/docs/$1')

const indexMarkdown = (texts: Text[], ending: string) =>
  texts.map(({ name, title, line }) => `- [${title}](/docs/${name}${ending}): ${line}`).join('\n')

function indexOf(texts: Text[]): string {
  const markdown = `# Documentation

${indexMarkdown(texts, '')}

Every page is also available as Markdown: add \`.md\` to its address. [/llms.txt](/llms.txt) lists the pages for language models. The OpenAPI description is at [/api/v1/openapi.json](/api/v1/openapi.json).
`
  return pageHtml({ title: 'Documentation', body: render(markdown, hrefOf).html, current: '', pages: texts })
}

const llmsOf = (texts: Text[]) => `# Baton

> A self-hosted work tracker whose teammates include agents. People delegate work to agents, and both can always see its status.

## Docs

${indexMarkdown(texts, '.md')}
- [OpenAPI](/api/v1/openapi.json): every operation of the API
`
