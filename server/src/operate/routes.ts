import { api } from '@baton/protocol'
import { Reply, route } from '../http/route.ts'
import { noCookie } from '../login/cookie.ts'
import { erasePerson } from './erase.ts'

export const accountDeletionRoutes = [
  route(api.deleteAccount, async ({ ctx, caller }) => {
    await erasePerson(ctx, caller.id, { by: 'self' })
    return new Reply(undefined, { 'set-cookie': noCookie(ctx.config) })
  }),
]
