import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { api, errors, type Operation } from '@baton/protocol'
import { expect } from 'vitest'
import { test } from '../../test/harness.ts'
import { hrefOf, openLibrary, servedLinks, summaryOf } from './library.ts'
import { anchorOf, render } from './markdown.ts'
import { operationLink } from './reference.ts'
import { sdkSample } from './samples.ts'

const root = new URL('../../../', import.meta.url)
const guides = readdirSync(new URL('docs/guides/', root))
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
/** Targets of the links of a page, outside of code. */
const linksOf = (markdown: string): string[] =>
  [...markdown.replace(/```[\s\S]*?```|`[^`\n]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, href]) => href as string)

const names = () => [...openLibrary().pages.keys()]

test('every guide is served as a page and as Markdown', async ({ app }) => {
  expect(guides).toContain('api.md')
  for (const file of guides) {
    const name = file.slice(0, -3)
    const page = await app.anonymous.getRoot(`/docs/${name}`)
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining('<h1>') })
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const markdown = await app.anonymous.getRoot(`/docs/${name}.md`)
    expect(markdown.body).toBe(servedLinks(read(`docs/guides/${file}`)))
    expect(linksOf(markdown.body).filter((href) => !/^(https?:|#|\/)/.test(href))).toEqual([])
    expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
  }
})

test('the pictures of the guides are served, and no other file', async ({ app }) => {
  const { body } = await app.anonymous.getRoot('/docs/coding-agents')
  const pictures = [...body.matchAll(/<img src="([^"]+)" alt="[^"]{10,}" loading="lazy">/g)].map(([, src]) => src)
  expect(pictures).toHaveLength(5)
  for (const src of pictures) {
    const picture = await app.anonymous.getRoot(src as string)
    expect(picture.status).toBe(200)
    expect(picture.headers.get('content-type')).toBe('image/png')
  }
  for (const name of ['nothing.png', '..%2fstyle.css', '..%2f..%2fpackage.json']) {
    expect(await app.anonymous.getRoot(`/docs/pictures/${name}`)).toMatchObject({ status: 404 })
  }
})

test('every error has an entry, and its response links to it', async ({ app }) => {
  const { body } = await app.anonymous.getRoot('/docs/errors')
  for (const [code, { status }] of Object.entries(errors)) {
    expect(body).toContain(`<h2 id="${code}">`)
    expect(body.split(`<h2 id="${code}">`)[1]).toMatch(new RegExp(`^[^]*?<strong>${status}\\.</strong>[^]*?<p>.{10}`))
  }
  const help = (code: string) => `<${app.ctx.config.rootUrl}/docs/errors#${code}>; rel="help"`
  const refused = await app.anonymous.get('/auth/me')
  expect(refused).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED', details: {} } })
  expect(Object.keys(refused.body)).toEqual(['code', 'message', 'details'])
  expect(refused.headers.get('link')).toBe(help('UNAUTHORIZED'))
  expect((await app.anonymous.get('/nowhere')).headers.get('link')).toBe(help('ROUTE_NOT_FOUND'))
  expect((await app.anonymous.getRoot('/docs')).headers.get('link')).toBeNull()
})

test('the page of a noun has its operations: method, path, callers, parameters, samples, responses and errors', async ({
  app,
}) => {
  const overview = await app.anonymous.getRoot('/docs/reference.md')
  for (const [name, operation] of Object.entries<Operation>(api)) {
    const { route, summary } = operation
    const [page, anchor] = operationLink(name, operation).split('#')
    expect(anchor).toBe(name)
    expect(overview.body).toContain(`[\`${name}\`](${app.ctx.config.rootUrl}/docs/${page}#${name})`)
    const { body } = await app.anonymous.getRoot(`/docs/${page}`)
    const entry = body.split(`## \`${name}\`\n`)[1]?.split('\n## ')[0]
    expect(entry, name).toContain(`\`${route.method} ${'at' in route ? '' : '/api/v1'}`)
    expect(entry?.replaceAll('\\', '')).toContain(summary)
    expect(entry).toContain(`Who may call it: ${route.caller}`)
    for (const [, param] of route.path.matchAll(/:(\w+)/g)) expect(entry).toContain(`| \`${param}\` | path |`)
    expect(entry).toContain('```sh curl\ncurl ')
    expect(/await (client|anonymous)\.\w+\(/.test(entry)).toBe(sdkSample(name, operation) !== null)
    expect(entry).toMatch(/\nReturns .*`\d{3}`/)
    expect(entry).toMatch(/\[`INTERNAL_ERROR`\]\(\S+\/docs\/errors\.md#INTERNAL_ERROR\)/)
  }
  const { body: issues } = await app.anonymous.getRoot('/docs/reference/issues.md')
  const update = issues.split('## `updateIssue`\n')[1].split('\n## ')[0]
  expect(update).toContain('tokens need the scope `write`')
  expect(update).toContain('`200` [Issue](#Issue)')
  expect(update).toMatch(/\| `status` \| body \| optional: `"backlog"`.* \| How far it is \| `"todo"` \|/)
  expect(issues).toMatch(/### `Issue`\n\n\| field \| type \| description \| example \|[^#]*\| `title` \| string/)
  const { body: sessions } = await app.anonymous.getRoot('/docs/reference/agent-sessions.md')
  expect(sessions).toContain('| `issue.team.key` | string | Key of the team | `"ENG"` |')
})

test('the index and llms.txt list every page with a summary, by reader', async ({ app }) => {
  const index = await app.anonymous.getRoot('/docs')
  const llms = await app.anonymous.getRoot('/llms.txt')
  expect(llms.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(names()).toEqual(expect.arrayContaining(['api', 'sdk', 'events', 'reference', 'reference/issues', 'errors']))
  for (const name of names()) {
    expect(index.body).toContain(`href="/docs/${name}"`)
    expect(llms.body).toMatch(new RegExp(`^- \\[.+\\]\\(http://localhost:3000/docs/${name}\\.md\\): \\S.{10}`, 'm'))
  }
  for (const group of ['Start', 'Managers', 'Integrations', 'Agent developers', 'Operators', 'Reference']) {
    expect(index.body).toContain(`<h2>${group}</h2>`)
  }
  // Every guide has a reader.
  expect(index.body).not.toContain('More guides')
})

test('a page marks itself in the navigation, lists its headings and leads to its neighbours', async ({ app }) => {
  const { body } = await app.anonymous.getRoot('/docs/webhooks')
  expect(body.match(/aria-current="page"/g)).toHaveLength(1)
  expect(body).toContain('<a href="/docs/webhooks" aria-current="page">Webhooks</a>')
  expect(body).toContain('<li class="depth-2"><a href="#retries-and-failures">Retries and failures</a></li>')
  expect(body).toContain('<a href="/docs/personal-tokens" rel="prev">Personal tokens</a>')
  expect(body).toContain('<a href="/docs/events" rel="next">Events</a>')
})

test('every page has the address of the instance, as HTML and as Markdown', async ({ startApp }) => {
  const app = await startApp({ BATON_ROOT_URL: 'https://tracker.acme.test' })
  const paths = names().flatMap((name) => [`/docs/${name}`, `/docs/${name}.md`])
  for (const path of ['/llms.txt', '/docs', '/docs/search?q=curl', ...paths]) {
    const { body } = await app.anonymous.getRoot(path)
    expect({ path, found: body.match(/.{0,40}localhost:3000.{0,40}/)?.[0] }).toEqual({ path, found: undefined })
  }
  const { body: issues } = await app.anonymous.getRoot('/docs/reference/issues.md')
  expect(issues).toContain('curl https://tracker.acme.test/api/v1/issues')
  expect(issues).toContain('](https://tracker.acme.test/docs/errors.md#FORBIDDEN)')
  expect((await app.anonymous.getRoot('/llms.txt')).body).toContain('](https://tracker.acme.test/docs/api.md)')
  const { body: mcp } = await app.anonymous.getRoot('/docs/mcp')
  expect(mcp).toContain('claude mcp add --transport http baton https://tracker.acme.test/mcp')
})

test('every link of every served page resolves', async ({ app }) => {
  const { pages } = openLibrary()
  const served = new Map<string, number>()
  const statusOf = async (path: string) => {
    if (!served.has(path)) served.set(path, (await app.anonymous.getRoot(path)).status)
    return served.get(path)
  }
  for (const { name, html, anchors, markdown } of pages.values()) {
    for (const [, href = ''] of html.matchAll(/href="([^"]+)"/g)) {
      const [path = '', anchor] = href.split('#')
      if (/^https?:|^\/assets\//.test(href)) continue
      if (path !== '') expect({ name, href, status: await statusOf(path) }).toMatchObject({ status: 200 })
      const there = path === '' ? [...anchors, 'pages', 'content'] : pages.get(path.replace('/docs/', ''))?.anchors
      if (anchor) expect({ name, href, there: there?.includes(anchor) }).toMatchObject({ there: true })
    }
    for (const href of linksOf(markdown)) {
      const [path = ''] = href.replace('http://localhost:3000', '').split('#')
      if (path.startsWith('/')) expect({ name, href, status: await statusOf(path) }).toMatchObject({ status: 200 })
    }
  }
})

test('every link between files of the repository resolves', () => {
  const files = [
    ...guides.map((file) => `docs/guides/${file}`),
    ...readdirSync(new URL('docs/decisions/', root)).map((file) => `docs/decisions/${file}`),
    ...['README.md', 'CONTRIBUTING.md', 'docs/ARCHITECTURE.md', 'sdk/README.md', 'examples/README.md'],
    ...['echo', 'triage', 'webhook-receiver'].map((name) => `examples/${name}/README.md`),
  ]
  for (const file of files) {
    for (const href of linksOf(read(file)).filter((one) => !/^(https?:|\/|mailto:)/.test(one))) {
      const [path = '', anchor] = href.split('#')
      // These are generated.
      if (/^(errors|events|reference(\/[\w-]+)?)\.md$/.test(path)) continue
      const target = path === '' ? new URL(file, root) : new URL(path, new URL(file, root))
      expect({ file, href, exists: existsSync(target) }).toEqual({ file, href, exists: true })
      if (!anchor) continue
      const headings = [...readFileSync(target, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => anchorOf(text))
      expect({ file, href, headings }).toMatchObject({ headings: expect.arrayContaining([anchor]) })
    }
  }
})

test('pages have one script and one style sheet, none inline, and can be cached', async ({ app }) => {
  for (const path of ['/docs', '/docs/search?q=issue', ...names().map((name) => `/docs/${name}`)]) {
    const { body, headers } = await app.anonymous.getRoot(path)
    const allowed = body.replace('<script src="/docs/docs.js"></script>', '')
    expect(allowed).not.toMatch(
      /<script|<style|\sstyle=|\son\w+=|javascript:|<img (?!src="\/docs\/pictures\/)|<iframe/i,
    )
    expect(body).toContain('<link rel="stylesheet" href="/docs/style.css">')
    expect(headers.get('content-security-policy')).toContain("default-src 'self'")
    expect(headers.get('cache-control')).toBe('public, max-age=300')
  }
  const style = await app.anonymous.getRoot('/docs/style.css')
  expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8')
  expect(style.body.replace(/url\(\/assets\/[\w.-]+\)/, '')).not.toMatch(/url\(|@import/)
  const script = await app.anonymous.getRoot('/docs/docs.js')
  expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect(script.body).not.toMatch(/innerHTML|eval\(|document\.write/)
})

test('the style sheet has the colours of the web app, in light and dark', () => {
  const colours = (path: string) =>
    new Map([...read(path).matchAll(/^\s+(--[\w-]+): (light-dark\(.*\));$/gm)].map(([, name, value]) => [name, value]))
  const [own, web] = [colours('docs/style.css'), colours('web/src/styles.css')]
  expect(own.size).toBeGreaterThan(10)
  for (const [name, value] of own) expect({ name, value }).toEqual({ name, value: web.get(name) })
  const key = /'(baton\.theme)'/.exec(read('web/src/ui/theme.ts'))?.[1]
  expect(read('docs/docs.js')).toContain(`localStorage.getItem('${key}')`)
})

test('an unknown page is 404, whatever its path', async ({ app }) => {
  for (const path of [
    '/docs/nothing',
    '/docs/nothing.md',
    '/docs/..%2F..%2Fpackage.json',
    '/docs/.md',
    '/docs/api.md.md',
    '/docs/reference/nothing',
    '/docs/reference/..%2Fapi',
    '/docs/reference%2Fissues%2F',
  ]) {
    expect(await app.anonymous.getRoot(path)).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
  }
})

test('raw HTML in Markdown is escaped', () => {
  const { html } = render(
    '# <b>T</b>\n\nSay <script>x</script> ![p](http://e.example/p.png) [a](http://localhost:3000/docs/x.md)',
    hrefOf,
  )
  expect(html).not.toMatch(/<script|<b>|<img/)
  expect(html).toContain('<a href="/docs/x">a</a>')
  expect(servedLinks('[b](../../LICENSE) [s](../../sdk/README.md)')).toBe(
    'b (`LICENSE`) [s](http://localhost:3000/docs/sdk.md)',
  )
  expect(servedLinks('[c](api.md#lists)')).toBe('[c](http://localhost:3000/docs/api.md#lists)')
  const remarks = render('<!-- a remark -->\n\n<!--><img src=x>-->\n\nText', hrefOf).html
  expect(remarks).not.toContain('remark')
  expect(remarks).not.toContain('<img')
})

test('headings have stable, unique anchors', () => {
  expect(anchorOf('Limits of tokens')).toBe('limits-of-tokens')
  expect(anchorOf('1. A server')).toBe('1-a-server')
  expect(anchorOf('`NOT_READY`')).toBe('NOT_READY')
  expect(render('## A\n\n## A\n\n## A', hrefOf).headings.map(({ anchor }) => anchor)).toEqual(['a', 'a-1', 'a-2'])
  expect(summaryOf('# T\n\n## S\n\nSee [this](x.md). More.')).toEqual({ title: 'T', line: 'See this' })
})
