import { describe, expect, test as pure } from 'vitest'
import { test } from '../../test/harness.ts'
import { searchBody } from './page.ts'
import { SearchIndex, wordsOf } from './search.ts'

const index = new SearchIndex([
  { name: 'a', title: 'Webhooks', markdown: '# Webhooks\n\nThey send events.\n\n## Retries\n\nAfter *one* minute.' },
  { name: 'b', title: 'Running', markdown: '# Running\n\nSet up.\n\n## Backups\n\nRetries are listed in [a](a.md).' },
  { name: 'c', title: 'Code', markdown: '# Code\n\n```sh\n## not a heading\ncurl x\n```\n\n## Retries\n\n## Retries' },
])

describe('the search', () => {
  pure('finds sections by every word or its beginning, headings first', () => {
    expect(index.find('retr').map(({ href }) => href)).toEqual([
      '/docs/a#retries',
      '/docs/c#retries',
      '/docs/c#retries-1',
      '/docs/b#backups',
    ])
    expect(index.find('retries listed').map(({ href }) => href)).toEqual(['/docs/b#backups'])
    expect(index.find('retries unicorn')).toEqual([])
    expect(index.find('curl')[0]).toMatchObject({ href: '/docs/c', heading: 'Code' })
    expect(index.find('events')[0]).toEqual({
      href: '/docs/a',
      title: 'Webhooks',
      heading: 'Webhooks',
      excerpt: 'They send events.',
    })
  })

  pure('matches whole words and their beginnings, not the inside of words', () => {
    const index = new SearchIndex([
      { name: 'a', title: 'A', markdown: '# A\n\nA mapping of keys.' },
      { name: 'b', title: 'B', markdown: '# B\n\nPings and a shopping list.' },
      { name: 'c', title: 'C', markdown: '# C\n\nSend a ping with webhook_id.' },
    ])
    expect(index.find('ping').map(({ href }) => href)).toEqual(['/docs/c', '/docs/b'])
    expect(index.find('id').map(({ href }) => href)).toEqual(['/docs/c'])
    expect(index.find('webhook_id')).toHaveLength(1)
    const marked = searchBody('ping', ['ping'], index.find('ping'))
    expect(marked).toContain('<mark>Ping</mark>s and a shopping list.')
  })

  pure('takes at most eight words, whatever is typed', () => {
    expect(wordsOf('')).toEqual([])
    expect(wordsOf('<script> .*+?^()|[]\\ ')).toEqual(['script'])
    expect(wordsOf('a b c d e f g h i j')).toHaveLength(8)
    expect(index.find('.*')).toEqual([])
  })
})

test('the search page lists results with links that exist, and finds guides, operations, fields and errors', async ({
  app,
}) => {
  const find = async (query: string) =>
    (await app.anonymous.getRoot(`/docs/search?q=${encodeURIComponent(query)}`)).body as string
  const firstOf = async (query: string) => /<ol id="results">\s*<li><a href="([^"]+)"/.exec(await find(query))?.[1]
  expect(await firstOf('createIssue')).toBe('/docs/reference/issues#createIssue')
  expect(await firstOf('SESSION_ENDED')).toBe('/docs/errors#SESSION_ENDED')
  expect(await firstOf('rate limits')).toBe('/docs/api#rate-limits')
  expect(await find('delegation_revision')).toContain('/docs/reference/issues#Issue')
  const body = await find('webhook secret')
  for (const [, href = ''] of body.split('id="results"')[1]?.matchAll(/<a href="([^"#]+)/g) ?? []) {
    expect((await app.anonymous.getRoot(href)).status).toBe(200)
  }
})

test('the search escapes and bounds what was typed, and refuses nothing', async ({ app }) => {
  const attack = '"><script>alert(1)</script><b>issue'
  const { body, headers } = await app.anonymous.getRoot(`/docs/search?q=${encodeURIComponent(attack)}`)
  expect(body).not.toContain('<script>alert')
  expect(body).not.toContain('<b>')
  expect(body).toContain('&#60;script&#62;alert(1)')
  expect(headers.get('content-security-policy')).toContain("default-src 'self'")
  const long = await app.anonymous.getRoot(`/docs/search?q=${'x'.repeat(1000)}`)
  expect(long.status).toBe(200)
  expect(long.body).toContain(`value="${'x'.repeat(200)}"`)
  for (const query of ['', '?q=', '?q=a&q=b', '?other=1', '?q=%00', '?q=%F0%9F%98%80']) {
    expect(await app.anonymous.getRoot(`/docs/search${query}`)).toMatchObject({ status: 200 })
  }
})

test('finds and marks words with a hyphen', async ({ app }) => {
  for (const query of ['sign-in', 'e-mail', 'X-Request-Id', '-', 'a|b', '(', '\\']) {
    const { status } = await app.anonymous.getRoot(`/docs/search?q=${encodeURIComponent(query)}`)
    expect(status, query).toBe(200)
  }
})
