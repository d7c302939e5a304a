import type { Context } from './context.ts'
import { deletionMails } from './deletion/mails.ts'
import { notificationMails } from './inbox/mails.ts'
import { setMailProblem } from './login/mail-problem.ts'
import { loginMails } from './login/mails.ts'
import type { Composers } from './mail/compose.ts'
import { testMails } from './mail/test-mail.ts'
import { type MailObserver, MailWorker } from './mail/worker.ts'
import { tokenMails } from './personal-tokens/mails.ts'
import { invitationMails } from './workspaces/mails.ts'

/** The texts of all mails, by kind. */
const composers: Composers = {
  ...testMails,
  ...loginMails,
  ...invitationMails,
  ...tokenMails,
  ...notificationMails,
  ...deletionMails,
}

export const createMailWorker = (ctx: Context, attempted?: MailObserver['attempted'], ca?: string) =>
  new MailWorker(
    ctx,
    composers,
    { addressRefused: (...refused) => setMailProblem(ctx.db, ...refused), ...(attempted && { attempted }) },
    ca,
  )
