import { type Static, Type } from 'typebox'
import { closed, nullable } from './common.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

export const MailStatus = Type.Object(
  {
    /** `paused`: the mail server cannot be used; the queue tries again by itself. */
    state: Type.Enum(['off', 'ok', 'paused']),
    reason: nullable(Type.String()),
    queued: Type.Integer({ minimum: 0 }),
    failed_24h: Type.Integer({ minimum: 0 }),
  },
  { ...closed, title: 'MailStatus' },
)
export type MailStatus = Static<typeof MailStatus>

export const mail = {
  getMailStatus: operation(routes.getMailStatus, {
    summary: 'Check whether the instance can send mail, and how many mails wait',
    returns: { 200: MailStatus },
  }),
  sendTestMail: operation(routes.sendTestMail, {
    summary: 'Send a test mail to your own address; five times an hour',
    returns: { 202: null },
    errors: ['MAIL_NOT_CONFIGURED'],
  }),
}
