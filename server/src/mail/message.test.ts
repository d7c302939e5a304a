import type { AddressObject, ParsedMail } from 'mailparser'
import { expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { queue, storedMails } from '../../test/mail.ts'
import type { SmtpServer } from '../../test/smtp.ts'
import { sql } from '../db/sql.ts'
import { createMailWorker } from '../mails.ts'
import type { Composed } from './compose.ts'
import { MailWorker } from './worker.ts'

const to = 'ada@example.com'
const fixed = [
  'auto-submitted',
  'content-type',
  'date',
  'from',
  'message-id',
  'mime-version',
  'subject',
  'to',
  'x-auto-response-suppress',
]
const unsubscribing = ['list-unsubscribe', 'list-unsubscribe-post']

async function send(app: TestApp, smtp: SmtpServer, composed: Composed) {
  await queue(app, { kind: 'said', address: to })
  await new MailWorker(app.ctx, { said: async () => composed }).drain()
  const sent = smtp.mails.at(-1)
  if (!sent) throw new Error('nothing was sent')
  return sent
}

const headerNames = ({ headerLines }: ParsedMail) => headerLines.map(({ key }) => key).toSorted()
const linksOf = (text: string) => [...new Set(text.match(/https?:\/\/[^\s"<>]+/g) ?? [])].toSorted()

const injections = [
  'Ada\r\nBcc: eve@evil.example',
  'Ada\nTo: eve@evil.example\n\nA body',
  'Ada\rSubject: Other',
  'Ada\0<eve@evil.example>',
  'Ada\u2028Cc: eve@evil.example',
  'Ada\u0085X-Evil: 1',
  `Ada ${'x'.repeat(300)}\r\n .\r\nMAIL FROM:<eve@evil.example>`,
  '=?utf-8?q?Ada=0D=0ABcc:_eve@evil.example?=',
]

test.for(injections.map((text) => [text]))(
  'control characters in texts add no header and no recipient: %j',
  verifies('mail.header-injection'),
  async ([text = ''], { startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const url = `${app.ctx.config.rootUrl}/issue/ENG-1`
    const { parsed, to: recipients } = await send(app, smtp, {
      subject: `${text} assigned you an issue`,
      paragraphs: [text],
      action: { label: text, url },
      items: [{ title: text, text, url }],
      footer: [text],
      unsubscribe: `${app.ctx.config.rootUrl}/mail/unsubscribe/x`,
    })
    expect(recipients).toEqual([to])
    expect(headerNames(parsed)).toEqual([...fixed, ...unsubscribing].toSorted())
    expect((parsed.to as AddressObject).value).toEqual([{ address: to, name: '' }])
    expect(parsed.cc).toBeUndefined()
    expect(parsed.bcc).toBeUndefined()
    expect(parsed.subject).toContain('assigned you an issue')
    expect(parsed.subject).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
    expect(smtp.mails).toHaveLength(1)
  },
)

test(
  'names with control characters that are already stored add no header to the mail of an invitation',
  verifies('mail.header-injection'),
  async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const { owner, id } = await app.workspace()
    await owner.post('/workspaces/me/invitations', { email: to, role: 'member' })
    // Not through the API, which refuses such names.
    await app.ctx.db.run(sql`update workspaces set name = ${'Acme\r\nBcc: eve@evil.example'} where id = ${id}`)
    await app.ctx.db.run(
      sql`update users set display_name = ${'Eve\nCc: eve@evil.example'} where id = ${owner.user.id}`,
    )
    await createMailWorker(app.ctx).drain()
    expect(smtp.mails).toHaveLength(1)
    expect(headerNames(smtp.to(to).parsed)).toEqual(fixed)
    expect(smtp.to(to).to).toEqual([to])
    expect(smtp.to(to).parsed.subject).toBe('Eve Cc: eve@evil.example invited you to Acme  Bcc: eve@evil.example')
  },
)

test(
  'has a text and an HTML part with the same links, and none to other origins',
  verifies('mail.text-and-html'),
  async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const { rootUrl } = app.ctx.config
    const { parsed } = await send(app, smtp, {
      subject: 'Grüße & <b>more</b>',
      paragraphs: ['<script>alert(1)</script> & <img src="https://evil.example/p.png">', 'Line one\nline two'],
      action: { label: 'Open <it>', url: `${rootUrl}/issue/ENG-1?a=1&b="2"#c`.replaceAll('"', '%22') },
      items: [
        { title: '[x](https://evil.example)', text: '"quoted"', url: `${rootUrl}/issue/ENG-2` },
        { title: 'Other', url: `${rootUrl}/issue/ENG-3` },
      ],
      footer: [`Change this at ${rootUrl}/settings/notifications`],
    })
    const html = String(parsed.html)
    expect(parsed.subject).toBe('Grüße & <b>more</b>')
    const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, url = '']) => url.replaceAll('&#38;', '&'))
    expect(links.toSorted()).toEqual(
      [
        `${rootUrl}/issue/ENG-1?a=1&b=%222%22#c`,
        `${rootUrl}/issue/ENG-2`,
        `${rootUrl}/issue/ENG-3`,
        `${rootUrl}/settings/notifications`,
      ].toSorted(),
    )
    const ours = linksOf(parsed.text ?? '').filter((url) => url.startsWith(rootUrl))
    expect(ours).toEqual(links.toSorted())
    expect(html).not.toMatch(
      /<(script|img|link|style|iframe|object|form|svg|video)|<[^>]*\b(src|on\w+)=|url\(|@import/i,
    )
    expect(html).toContain('&#60;script&#62;alert(1)')
    expect(parsed.text).toContain('<script>alert(1)</script>')
  },
)

test('every kind of mail has both parts', verifies('mail.text-and-html'), async ({ startApp, smtp }) => {
  const app = await startApp(smtp.env)
  const { rootUrl } = app.ctx.config
  const { owner } = await app.workspace()
  await owner.post('/mail/test')
  await owner.post('/workspaces/me/invitations', { email: to, role: 'admin' })
  expect((await owner.post('/auth/email/verification')).status).toBe(202)
  expect((await owner.post('/auth/email', { email: 'new@example.com' })).status).toBe(202)
  expect((await owner.put('/auth/password', { new_password: 'another horse' })).status).toBe(204)
  await app.sendMails()
  const kinds = (await storedMails(app)).filter(({ state }) => state === 'sent').map(({ kind }) => kind)
  expect(kinds).toEqual(expect.arrayContaining(['test', 'invitation', 'verify', 'security']))
  expect(smtp.mails.length).toBe(kinds.length)
  for (const { parsed } of smtp.mails) {
    const html = String(parsed.html)
    const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, url = '']) => url.replaceAll('&#38;', '&'))
    expect(links.length).toBeGreaterThan(0)
    expect(linksOf(parsed.text ?? '')).toEqual([...new Set(links)].toSorted())
    for (const link of links) expect(new URL(link).origin).toBe(rootUrl)
    expect(parsed.from?.value).toEqual([{ name: 'Baton', address: 'baton@example.com' }])
    expect(parsed.headers.has('list-unsubscribe')).toBe(false)
  }
})
