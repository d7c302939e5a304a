import { escapeHtml, type Heading } from './markdown.ts'
import { beginningOf, type Result } from './search.ts'

export interface PageLink {
  name: string
  title: string
}

export interface Group {
  title: string
  pages: PageLink[]
}

interface Frame {
  title: string
  body: string
  /** Name of this page; empty on the index and the search. */
  current: string
  groups: Group[]
  headings?: Heading[]
  /** The text of the search, on its page. */
  query?: string
}

/** Tables of contents shorter than this are left out. */
const fewHeadings = 2

/** The list of pages follows the content in the document; wide screens show it beside the content. */
export function pageHtml({ title, body, current, groups, headings = [], query = '' }: Frame): string {
  const contents = headings.length < fewHeadings ? '' : contentsHtml(headings)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Baton</title>
<link rel="icon" type="image/svg+xml" href="/assets/baton.svg">
<link rel="stylesheet" href="/docs/style.css">
<script src="/docs/docs.js"></script>
${current ? `<link rel="alternate" type="text/markdown" href="/docs/${current}.md">\n` : ''}</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="home" href="/docs">Baton <span>Docs</span></a>
<form role="search" action="/docs/search">
<input type="search" name="q" value="${escapeHtml(query)}" maxlength="200" placeholder="Search" aria-label="Search the documentation" autocomplete="off" spellcheck="false">
<kbd aria-hidden="true">/</kbd>
<div class="found" hidden></div>
</form>
<a class="to-pages" href="#pages">All pages</a>
<a class="to-app" href="/">Open the app</a>
</header>
<main id="content" tabindex="-1">
${contents ? `<details class="contents"><summary>On this page</summary>\n${contents}</details>\n` : ''}${body}${current ? footer(current, groups) : ''}</main>
${contents ? `<aside aria-label="On this page">\n<p>On this page</p>\n${contents}</aside>\n` : ''}<nav id="pages" aria-label="All pages">
${groups.map((group) => groupHtml(group, current)).join('\n')}
</nav>
</body>
</html>
`
}

const contentsHtml = (headings: Heading[]) =>
  `<ul>\n${headings
    .filter(({ depth }) => depth <= 3)
    .map(({ depth, text, anchor }) => `<li class="depth-${depth}"><a href="#${anchor}">${escapeHtml(text)}</a></li>`)
    .join('\n')}\n</ul>\n`

const groupHtml = ({ title, pages }: Group, current: string) => `<section>
<h2>${escapeHtml(title)}</h2>
<ul>
${pages.map((page) => `<li>${link(page, page.name === current ? ' aria-current="page"' : '')}</li>`).join('\n')}
</ul>
</section>`

const link = ({ name, title }: PageLink, attributes = '') =>
  `<a href="/docs/${name}"${attributes}>${escapeHtml(title)}</a>`

/** The pages before and after this one, and its Markdown. */
function footer(current: string, groups: Group[]): string {
  const pages = groups.flatMap((group) => group.pages)
  const at = pages.findIndex(({ name }) => name === current)
  const [before, after] = [pages[at - 1], pages[at + 1]]
  return `<nav class="around" aria-label="Previous and next page">
${before ? `<p><span>Previous</span>${link(before, ' rel="prev"')}</p>\n` : ''}${after ? `<p class="next"><span>Next</span>${link(after, ' rel="next"')}</p>\n` : ''}</nav>
<p class="source"><a href="/docs/${current}.md">This page as Markdown</a></p>
`
}

/** The body of the search page. The script of the pages shows its list of results while a person types. */
export function searchBody(query: string, words: string[], results: Result[]): string {
  const shown = escapeHtml(query)
  const count =
    words.length === 0
      ? 'Type one or more words into the search field.'
      : results.length === 0
        ? `No results for “${shown}”. Try fewer or shorter words.`
        : `${results.length} ${results.length === 1 ? 'result' : 'results'} for “${shown}”`
  return `<h1>Search</h1>
<p id="count">${count}</p>
<ol id="results">
${results.map((result) => resultHtml(result, words)).join('\n')}
</ol>
`
}

const resultHtml = ({ href, title, heading, excerpt }: Result, words: string[]) =>
  `<li><a href="${escapeHtml(href)}">${heading === title ? '' : `<span>${escapeHtml(title)}</span> `}${escapeHtml(heading)}</a><p>${marked(excerpt, words)}</p></li>`

/** Escapes the text and marks the words in it. */
function marked(text: string, words: string[]): string {
  const pattern = new RegExp(`(${words.map(beginningOf).join('|')})`, 'giu')
  return text
    .split(pattern)
    .map((part, index) => (index % 2 === 1 ? `<mark>${escapeHtml(part)}</mark>` : escapeHtml(part)))
    .join('')
}
