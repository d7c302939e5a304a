import { api, limits } from '@baton/protocol'
import { expect } from 'vitest'
import { test } from '../server/test/harness.ts'
import { asked, oauthScene } from '../server/test/oauth.ts'
import { hostileTexts } from './hostile.ts'

/** Markup that unescaped hostile texts would produce. */
const marks = /<script>window|<img src=x|<svg onload|<html>|<b>/i
const cut = (text: string, length: number) => [...text].slice(0, length).join('')
const named = hostileTexts.map((text) => cut(`x${text}`, limits.name))

test('pages escape request input or leave it out', async ({ app }) => {
  const { client, owner } = await oauthScene(app)
  for (const text of hostileTexts) {
    const escaped = encodeURIComponent(text)
    for (const path of [`/docs/${escaped}`, `/docs?x=${escaped}`, `/${escaped}`, `/api/v1/${escaped}`]) {
      const { headers, body } = await app.anonymous.getRoot(path)
      expect(headers.get('content-security-policy')).toContain("default-src 'self'")
      if (headers.get('content-type')?.startsWith('text/html')) expect(String(body)).not.toMatch(marks)
    }
    const strange = [
      { client_id: text },
      { redirect_uri: text },
      { state: text, scope: text },
      { state: text, response_type: text },
      { state: text, code_challenge: text },
    ]
    for (const change of strange) {
      const response = await owner.get(`/oauth/authorize?${asked(client.client_id, change)}`)
      const location = response.headers.get('location')
      expect(response.status).toBe(location ? 302 : 400)
      expect(String(response.body ?? '')).not.toMatch(marks)
      expect([...response.headers.keys()]).not.toContain('set-cookie')
      // Redirects to the app with its state, and without characters that would end the URL.
      if (location) expect(new URL(location).searchParams.get('state')).toBe(text)
      if (location) expect(location).not.toMatch(/[\s<>"]/)
    }
  }
})

test('webhooks contain user text only in their bodies', async ({ app, receiver }) => {
  const { owner } = await app.workspace('=cmd|"/C calc"!A0')
  const { body: team } = await owner.post('/teams', { name: named[8], key: 'ENG' })
  await owner.post('/webhooks', {
    label: named[10],
    url: receiver.url,
    all_teams: true,
    resource_types: ['Issue', 'Comment', 'Project'],
  })
  for (const text of hostileTexts) {
    const { body: issue } = await owner.post('/issues', {
      title: cut(`x${text}`, limits.title),
      description: text,
      team_id: team.id,
    })
    await owner.post('/comments', { target_type: 'issue', target_id: issue.id, text: `x${text}` })
  }
  await app.deliver()
  const received = receiver.take()
  expect(received).toHaveLength(hostileTexts.length * 2)
  const allowed =
    /^(content-type|content-length|user-agent|svc-(delivery|event|request-id|signature|timestamp)|traceparent|webhook-(id|timestamp|signature)|host|connection|accept-encoding|accept)$/
  for (const { headers, body } of received) {
    expect(Object.keys(headers).filter((name) => !allowed.test(name))).toEqual([])
    for (const value of Object.values(headers)) expect(value).toMatch(/^[\w\-.:/;= *,+]+$/)
    expect(
      hostileTexts.some(
        (text) => [body.data.description, body.data.text].includes(text) || body.data.text === `x${text}`,
      ),
    ).toBe(true)
  }
})

test('every response that is not a page has a content type', async ({ app }) => {
  const { owner } = await app.workspace()
  for (const name of named.slice(0, 6)) {
    const manifest = {
      schemaVersion: '1.0.0',
      name,
      developer: { name },
      oauth: { redirect_uris: ['https://a.example.com/'], scopes: [] },
    }
    const { body } = await owner.post('/agent-apps', manifest)
    const icon = await app.anonymous.get(`/agent-apps/${body.app.id}/icon`)
    expect(icon.headers.get('content-type')).toMatch(/^image\//)
    expect(icon.headers.get('x-content-type-options')).toBe('nosniff')
    expect(String(icon.body)).not.toMatch(/<script|onload|onerror/i)
  }
  const pages = Object.values(api).flatMap((operation) => ('produces' in operation ? [operation.produces] : []))
  // Before adding one, check what it escapes.
  expect([...new Set(pages)].sort()).toMatchInlineSnapshot(`
    [
      "application/gzip",
      "application/x-ndjson, text/csv",
      "image/*",
      "image/*, video/*, text/plain, application/pdf, application/octet-stream",
      "image/png",
      "text/*",
      "text/css",
      "text/csv",
      "text/event-stream",
      "text/html",
      "text/javascript",
      "text/plain",
    ]
  `)
})
