import { describe, expect, test } from 'vitest'
import { verifies } from '../../../conformance/requirements.ts'
import { fetching, serve } from '../../test/fetching.ts'
import { recordsIn, sourceFile, unmapped } from '../../test/source-files.ts'
import { FetchFailed, fetchSource } from './fetch.ts'
import { nextPage } from './fetch-github.ts'
import { readSource } from './formats/index.ts'

const issue = (number: number) => ({
  number,
  title: `Issue ${number}`,
  state: 'open',
  html_url: `https://github.com/acme/shop/issues/${number}`,
})
const comment = (id: number) => ({
  id,
  body: `Comment ${id}`,
  html_url: `https://github.com/acme/shop/issues/1#issuecomment-${id}`,
  issue_url: 'https://api.github.com/repos/acme/shop/issues/1',
})

/** Pages of one item each, with links to the next one. */
async function github({
  total = 3,
  next = (page: number, host: string, path: string) => `http://${host}${path}&page=${page}`,
} = {}) {
  const server = await serve((request, response) => {
    const url = new URL(request.url ?? '', server.url)
    const page = Number(url.searchParams.get('page') ?? 1)
    url.searchParams.delete('page')
    const link = `<${next(page + 1, server.host, url.pathname + url.search)}>; rel="next", <x>; rel="last"`
    const item = url.pathname.endsWith('/comments') ? comment(page) : issue(page)
    response.writeHead(200, { 'content-type': 'application/json', ...(page < total ? { link } : {}) })
    response.end(JSON.stringify([item]))
  })
  return server
}

const fetchFrom = (url: string, tools: ReturnType<typeof fetching>, repository = 'acme/shop') =>
  fetchSource(tools, { kind: 'github', url, repository }, 'ghp_secret', tools.sink, tools.signal)

test('pages are followed to the last one', verifies('import.github-pages'), async () => {
  const server = await github()
  const tools = fetching()
  await fetchFrom(`${server.url}/`, tools)
  const { issues, comments, problems } = await recordsIn(readSource('github', [sourceFile(tools.stored())], unmapped))
  expect(issues.map(({ id }) => id)).toEqual(['acme/shop#1', 'acme/shop#2', 'acme/shop#3'])
  expect(comments.map(({ text }) => text)).toEqual(['Comment 1', 'Comment 2', 'Comment 3'])
  expect(problems).toEqual([])
  const sort = 'sort=created&direction=asc&per_page=100'
  expect(server.requests).toEqual(
    [
      `/repos/acme/shop/issues?state=all&${sort}`,
      `/repos/acme/shop/issues?state=all&${sort}&page=2`,
      `/repos/acme/shop/issues?state=all&${sort}&page=3`,
      `/repos/acme/shop/issues/comments?${sort}`,
      `/repos/acme/shop/issues/comments?${sort}&page=2`,
      `/repos/acme/shop/issues/comments?${sort}&page=3`,
    ].map((url) => ({ url, authorization: 'Bearer ghp_secret' })),
  )
})

test(
  'a next page on another host is not requested',
  verifies('import.github-pages', 'import.key-only-to-source'),
  async () => {
    const other = await github()
    const server = await github({ next: (page) => `${other.url}/issues?page=${page}` })
    const failed = await fetchFrom(server.url, fetching()).catch((error: Error) => error)
    expect(failed).toEqual(new FetchFailed(`GitHub refers to another host, ${other.host}, which is not called.`))
    expect([server.requests.length, other.requests.length]).toEqual([1, 0])
  },
)

test('pages in a circle end', verifies('import.github-pages'), async () => {
  const server = await github({ next: (_, host, path) => `http://${host}${path}&page=2` })
  expect(await fetchFrom(server.url, fetching()).catch((error: Error) => error)).toEqual(
    new FetchFailed('GitHub repeats its pages.'),
  )
  expect(server.requests).toHaveLength(2)
})

test('a redirect is not followed', verifies('import.key-only-to-source'), async () => {
  const other = await github()
  const server = await serve((_, response) => response.writeHead(302, { location: other.url }).end())
  await expect(fetchFrom(server.url, fetching())).rejects.toThrow('GitHub answered 302.')
  expect(other.requests).toEqual([])
})

test('waits until the limit of requests is lifted', verifies('import.github-pages'), async () => {
  const tools = fetching()
  const reset = String(tools.clock.now().getTime() / 1000 + 120)
  const limits = [
    { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset } },
    { status: 403, headers: { 'retry-after': '5' } },
    { status: 429, headers: {} },
  ]
  const server = await serve((_, response) => {
    const limit = limits.shift()
    if (limit) response.writeHead(limit.status, limit.headers).end('{}')
    else response.end('[]')
  })
  const done = fetchFrom(server.url, tools)
  for (const seconds of [120, 5, 60]) {
    await tools.waitsFor(seconds * 1000)
    tools.clock.advance({ seconds })
  }
  await done
  expect(server.requests).toHaveLength(5)
})

describe('refuses', () => {
  test.each([
    ['a private address', 'http://127.0.0.1:1', 'acme/shop', 'at an address that this instance does not call'],
    ['metadata', 'http://169.254.169.254', 'acme/shop', 'at an address that this instance does not call'],
    ['no URL', 'api', 'acme/shop', 'not a URL'],
    ['a repository with a path', 'http://localhost:1', 'acme/../x', 'owner/name'],
    ['a repository with dots', 'http://localhost:1', '../..', 'owner/name'],
  ])('%s', verifies('import.no-ssrf'), async (_, url, repository, reason) => {
    await expect(fetchFrom(url, fetching(), repository)).rejects.toThrow(reason)
  })

  test('an answer of more than 16 MB', async () => {
    const server = await serve((_, response) => response.end(`["${'x'.repeat(16 * 1024 * 1024)}"]`))
    const tools = fetching()
    await expect(fetchFrom(server.url, tools)).rejects.toThrow('larger than 16 MB')
    expect(tools.stored()).toHaveLength(0)
  })

  test.each(['<html>', '{"message":"x"}'])('the answer %s', async (body) => {
    const server = await serve((_, response) => response.end(body))
    await expect(fetchFrom(server.url, fetching())).rejects.toThrow('Check the address')
  })
})

test.each([
  [null, null],
  ['<https://h/a?page=2>; rel="next"', 'https://h/a?page=2'],
  [
    '<https://h/a?page=1>; rel="prev", <https://h/a?page=3>; rel="next", <https://h/a?page=9>; rel="last"',
    'https://h/a?page=3',
  ],
  ['<https://h/a?page=1>; rel="prev", <https://h/a?page=1>; rel="first"', null],
  ['</b?page=2>; title="x"; rel=next', 'https://h/b?page=2'],
  ['<https://h/a>; rel="nextish"', null],
])('the next page of %s', verifies('import.github-pages'), (link, next) => {
  expect(nextPage(link, 'https://h/a')).toBe(next)
})
