import MailComposer from 'nodemailer/lib/mail-composer'
import type { MailConfig } from '../config.ts'
import type { Composed } from './compose.ts'
import type { Message } from './smtp.ts'

interface Envelope {
  to: string
  messageId: string
  date: Date
}

/** The bytes of a mail: its fixed headers, and the same content as text and as HTML. */
export async function messageOf(
  { from }: MailConfig,
  rootUrl: string,
  { to, messageId, date }: Envelope,
  composed: Composed,
): Promise<Message> {
  const content = cleaned(composed)
  refuseOtherOrigins(content, rootUrl)
  const { unsubscribe } = content
  const raw = await new MailComposer({
    from: { name: from.name, address: from.address },
    to: { name: '', address: to },
    subject: content.subject,
    messageId,
    date,
    text: textOf(content),
    html: htmlOf(content, rootUrl),
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...(unsubscribe
        ? { 'List-Unsubscribe': `<${unsubscribe}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
        : {}),
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build()
  return { from: from.address, to, raw }
}

/** Characters that end a line or change the direction of text. Names and titles come from users. */
const harmful = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu
const oneLine = (text: string) => text.replace(harmful, ' ').trim()
/** Line feeds are kept. */
const lines = (text: string) =>
  text
    .replace(/\r\n?/g, '\n')
    .split('\n')
    .map((line) => line.replace(harmful, ' '))
    .join('\n')

const cleaned = ({ subject, paragraphs, action, items = [], footer = [], unsubscribe }: Composed) => ({
  // Mail programs would decode a title that looks like an encoded word.
  subject: oneLine(subject).replaceAll('=?', '= ?'),
  paragraphs: paragraphs.map(lines),
  action: action && { label: oneLine(action.label), url: action.url },
  items: items.map(({ title, text, url }) => ({ title: oneLine(title), text: text && lines(text), url })),
  footer: footer.map(lines),
  unsubscribe,
})

type Content = ReturnType<typeof cleaned>

function refuseOtherOrigins({ action, items, unsubscribe }: Content, rootUrl: string) {
  for (const url of [action?.url, unsubscribe, ...items.map((item) => item.url)]) {
    if (url !== undefined && !(URL.canParse(url) && new URL(url).origin === rootUrl && /^[!-~]+$/.test(url)))
      throw new Error('a mail contains a link to another origin')
  }
}

const textOf = ({ paragraphs, action, items, footer }: Content) =>
  [
    ...paragraphs,
    ...(action ? [`${action.label}:\n${action.url}`] : []),
    ...items.map(({ title, text, url }) => [title, text, url].filter(Boolean).join('\n')),
    ...(footer.length > 0 ? [`-- \n${footer.join('\n')}`] : []),
  ].join('\n\n')

const escaped = (text: string) =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`).replaceAll('\n', '<br>\n')

/** Makes links of the instance's own addresses, as mail programs do in the text part. */
const linked = (text: string, rootUrl: string) =>
  text
    .split(/(https?:\/\/[^\s<>"']+)/)
    .map((part) =>
      URL.canParse(part) && new URL(part).origin === rootUrl
        ? `<a href="${escaped(part)}" style="color:#4f46e5">${escaped(part)}</a>`
        : escaped(part),
    )
    .join('')

/** Without images, scripts and classes: mail programs remove them, or load them from elsewhere. */
function htmlOf({ subject, paragraphs, action, items, footer }: Content, rootUrl: string) {
  const paragraph = (html: string) => `<p style="margin:0 0 16px">${html}</p>`
  const link = ({ url }: { url: string }, label: string, style: string) =>
    `<a href="${escaped(url)}" style="${style}">${escaped(label)}</a>`
  const button =
    'display:inline-block;padding:10px 18px;border-radius:6px;background:#4f46e5;color:#ffffff;text-decoration:none;font-weight:600'
  const body = [
    ...paragraphs.map((text) => paragraph(linked(text, rootUrl))),
    ...(action ? [paragraph(link(action, action.label, button))] : []),
    ...items.map((item) =>
      paragraph(
        link(item, item.title, 'color:#4f46e5;font-weight:600') + (item.text ? `<br>\n${escaped(item.text)}` : ''),
      ),
    ),
    ...(footer.length > 0
      ? [
          `<p style="margin:24px 0 0;padding-top:16px;border-top:1px solid #d4d4d8;font-size:13px;color:#71717a">${linked(footer.join('\n'), rootUrl)}</p>`,
        ]
      : []),
  ]
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${escaped(subject)}</title></head>
<body style="margin:0;padding:24px;font:15px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif">
<div style="max-width:560px;margin:0 auto">
${body.join('\n')}
</div>
</body>
</html>
`
}
