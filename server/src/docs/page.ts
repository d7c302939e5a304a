import { escapeHtml } from './markdown.ts'

interface Frame {
  title: string
  body: string
  /** Name of this page; empty on the index. */
  current: string
  pages: { name: string; title: string }[]
}

/** The list of pages follows the content in the document; wide screens show it beside the content. */
export const pageHtml = ({ title, body, current, pages }: Frame) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Baton</title>
<link rel="stylesheet" href="/docs/style.css">
${current ? `<link rel="alternate" type="text/markdown" href="/docs/${current}.md">\n` : ''}</head>
<body>
<header><a href="/docs">Baton</a> <a class="to-pages" href="#pages">All pages</a> <a href="/">Open the app</a></header>
<main>
${body}${current ? `<p class="source"><a href="/docs/${current}.md">This page as Markdown</a></p>\n` : ''}</main>
<nav id="pages" aria-label="All pages">
<ul>
${pages.map((page) => item(page, page.name === current)).join('\n')}
</ul>
</nav>
</body>
</html>
`

const item = ({ name, title }: { name: string; title: string }, isCurrent: boolean) =>
  `<li><a href="/docs/${name}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a></li>`
