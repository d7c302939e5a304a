import type { Context } from '../context.ts'
import type { Person } from '../http/caller.ts'
import { removeIdentity } from '../login/methods.ts'
import { tellOwner } from '../login/security-mails.ts'
import { transact } from '../unit-of-work.ts'
import { recordInWorkspacesOf } from './audit.ts'

export const unlinkIdentity = (ctx: Context, caller: Person, id: string) =>
  transact(ctx, caller, async (unit) => {
    const { provider_id: provider } = await removeIdentity(unit.tx, caller.id, id)
    await recordInWorkspacesOf(unit, caller.id, {
      action: 'identity.unlinked',
      subjectId: caller.id,
      details: { provider },
    })
    const { name } = ctx.config.sso.providers.find((one) => one.id === provider) ?? { name: provider }
    await tellOwner(unit, ctx.keys, caller.id, 'method_removed', { name, method: 'identity' })
  })
