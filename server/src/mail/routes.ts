import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { readMailStatus, sendTestMail } from './status.ts'

export const mailRoutes = [
  route(api.getMailStatus, ({ ctx }) => readMailStatus(ctx)),
  route(api.sendTestMail, ({ ctx, caller }) => sendTestMail(ctx, caller)),
]
