import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rootDir } from '../paths.ts'
import { webDir } from '../web/files.ts'
import { errorsPage } from './errors-page.ts'
import { eventsPage } from './events-page.ts'
import { type Heading, render } from './markdown.ts'
import { type Group, pageHtml, searchBody } from './page.ts'
import { nounPages, referencePage } from './reference.ts'
import { sampleUrl } from './samples.ts'
import { SearchIndex, wordsOf } from './search.ts'

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
  script: string
  /** A picture of docs/pictures. */
  picture(file: string): Buffer | undefined
  /** The page for an address without a page. */
  missing: string
  /** The page of results for a text. */
  search(query: string): string
}

/** Pages by reader, in reading order. Guides that are in no group are in the last group of guides. */
const readers: { title: string; names: string[] }[] = [
  {
    title: 'Start',
    names: ['start', 'issues', 'files', 'your-account', 'notifications', 'automations', 'coding-agents'],
  },
  {
    title: 'Managers',
    names: [
      'managing-workspaces',
      'managing-agents',
      'insights',
      'reviews',
      'importing',
      'git',
      'export-and-restore',
      'deleting-a-workspace',
    ],
  },
  { title: 'Integrations', names: ['api', 'personal-tokens', 'webhooks', 'events', 'mcp'] },
  {
    title: 'Agent developers',
    names: ['building-agents', 'agent-apps', 'agent-sessions', 'sdk', 'cli', 'a2a-agents', 'migrating-from-linear'],
  },
  {
    title: 'Operators',
    names: [
      'running',
      'operating',
      'backups',
      'containers',
      'deploying',
      'monitoring',
      'single-sign-on',
      'mail',
      'postgres',
      'high-availability',
      'growing',
    ],
  },
]

let library: Library | undefined

/** Read at the first request, not at the start of the service. */
export function openLibrary(): Library {
  library ??= readLibrary()
  return library
}

function readLibrary(): Library {
  const texts = new Map(
    [...readSources()].map(([name, source]) => [name, { name, ...summaryOf(source), markdown: servedLinks(source) }]),
  )
  const groups = groupsOf(texts)
  const ordered = groups.flatMap(({ pages }) => pages)
  // No other name reaches the disk.
  const pictures = readdirSync(new URL('docs/pictures/', rootDir))
  let searchIndex: SearchIndex | undefined
  return {
    pages: new Map(ordered.map((text) => [text.name, pageOf(text, groups)])),
    index: indexOf(groups),
    llms: llmsOf(groups),
    style: fontFace() + read('docs/style.css'),
    script: read('docs/docs.js'),
    picture: (file) => (pictures.includes(file) ? readFileSync(new URL(`docs/pictures/${file}`, rootDir)) : undefined),
    missing: pageHtml({ title: 'Page not found', body: missingBody, current: '', groups }),
    search(query) {
      searchIndex ??= new SearchIndex(ordered)
      const body = searchBody(query, wordsOf(query), searchIndex.find(query))
      return pageHtml({ title: 'Search', body, current: '', groups, query })
    },
  }
}

const missingBody = `<h1>Page not found</h1>
<p>The documentation has no page at this address. Search for it, or start at the <a href="/docs">overview</a>.</p>
`

type Text = Pick<Page, 'name' | 'title' | 'line' | 'markdown'>
interface TextGroup extends Group {
  pages: Text[]
}

function groupsOf(texts: Map<string, Text>): TextGroup[] {
  const reference = [...texts.keys()].filter((name) => /^(reference|errors)(\/|$)/.test(name))
  const listed = new Set([...readers.flatMap(({ names }) => names), ...reference])
  const others = [...texts.keys()].filter((name) => !listed.has(name)).sort()
  return [...readers, { title: 'More guides', names: others }, { title: 'Reference', names: reference }]
    .map(({ title, names }) => ({ title, pages: names.flatMap((name) => texts.get(name) ?? []) }))
    .filter(({ pages }) => pages.length > 0)
}

/** Rendered at the first request. */
function pageOf(text: Text, groups: TextGroup[]): Page {
  let rendered: { html: string; headings: Heading[] } | undefined
  const look = () => {
    if (!rendered) {
      const { html: body, headings } = render(text.markdown, hrefOf)
      rendered = { headings, html: pageHtml({ title: text.title, body, current: text.name, groups, headings }) }
    }
    return rendered
  }
  return {
    ...text,
    get html() {
      return look().html
    },
    get anchors() {
      return look().headings.map(({ anchor }) => anchor)
    },
  }
}

/** Markdown by the name of its page. */
function readSources(): Map<string, string> {
  const guides = readdirSync(new URL('docs/guides/', rootDir)).filter((file) => file.endsWith('.md'))
  return new Map([
    ...guides.map((file) => [file.slice(0, -3), read(`docs/guides/${file}`)] as const),
    ['sdk', read('sdk/README.md')],
    ['events', eventsPage()],
    ['reference', referencePage()],
    ['errors', errorsPage()],
    ...nounPages(),
  ])
}

const read = (path: string) => readFileSync(new URL(path, rootDir), 'utf8')

/** The web app's font, from its build; without a build, the system's font is used. */
function fontFace(): string {
  try {
    const file = readdirSync(join(webDir, 'assets')).find((name) =>
      /^inter-latin-wght-normal-[\w-]+\.woff2$/.test(name),
    )
    return file
      ? `@font-face {\n  font-family: "Inter Variable";\n  font-weight: 100 900;\n  font-display: swap;\n  src: url(/assets/${file}) format("woff2");\n}\n`
      : ''
  } catch {
    return ''
  }
}

/** A page's title, and the first sentence of its first paragraph. */
export function summaryOf(markdown: string): { title: string; line: string } {
  const blocks = markdown.split(/\n{2,}/)
  const title = blocks[0]?.replace(/^# /, '').trim() ?? ''
  const paragraph = blocks.slice(1).find((block) => /^[A-Za-z`*]/.test(block.trim())) ?? ''
  const [sentence] = /^[\s\S]*?\.(?=\s|$)/.exec(paragraph) ?? [paragraph]
  return { title, line: sentence.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replace(/\.$/, '') }
}

/**
 * Links to other pages get the address of the instance, so that a page can be read anywhere. A link to a file that is
 * not served becomes the path of the file.
 */
export const servedLinks = (markdown: string) =>
  markdown
    .replaceAll('](../../sdk/README.md', '](sdk.md')
    .replaceAll('](../pictures/', `](${sampleUrl}/docs/pictures/`)
    .replace(/\]\(([\w-]+(?:\/[\w-]+)?\.md)(?=[#)])/g, `](${sampleUrl}/docs/$1`)
    .replace(/\[([^\]]+)\]\((?:\.\.\/)+([^)]+)\)/g, '$1 (`$2`)')

/** Links between HTML pages have neither host nor `.md`. */
export const hrefOf = (href: string) =>
  href.startsWith(`${sampleUrl}/docs/`) ? href.slice(sampleUrl.length).replace(/\.md(?=#|$)/, '') : href

const indexMarkdown = (groups: TextGroup[], linkOf: (name: string) => string) =>
  groups
    .map(
      ({ title, pages }) =>
        `## ${title}\n\n${pages.map((page) => `- [${page.title}](${linkOf(page.name)}): ${page.line}`).join('\n')}`,
    )
    .join('\n\n')

function indexOf(groups: TextGroup[]): string {
  const markdown = `# Documentation

For this version of Baton, from your own instance. Every page is also available as Markdown: add \`.md\` to its address. [/llms.txt](/llms.txt) lists the pages for language models. The OpenAPI description is at [/api/v1/openapi.json](/api/v1/openapi.json).

${indexMarkdown(groups, (name) => `/docs/${name}`)}
`
  return pageHtml({ title: 'Documentation', body: render(markdown, hrefOf).html, current: '', groups })
}

const llmsOf = (groups: TextGroup[]) => `# Baton

> A self-hosted work tracker whose teammates include agents. People delegate work to agents, and both can always see its status.

This instance is at ${sampleUrl}. Its API is at ${sampleUrl}/api/v1, its MCP server at ${sampleUrl}/mcp.

${indexMarkdown(groups, (name) => `${sampleUrl}/docs/${name}.md`)}

## Descriptions for programs

- [OpenAPI](${sampleUrl}/api/v1/openapi.json): every operation of the API
- [Manifest schema](${sampleUrl}/.well-known/agent-app-manifest.schema.json): the manifest of an agent app
`
