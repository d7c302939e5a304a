import type { Role } from '@baton/protocol'
import { createBuiltInAgent } from '../agents/inside-agents.ts'
import type { Db } from '../db/database.ts'
import { isDuplicate } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { hashPassword } from '../login/passwords.ts'
import { resetAsOperator } from '../login/reset.ts'
import { insertAccount } from '../login/sign-up.ts'
import { needsSso } from '../login/sso-only.ts'
import { recordInWorkspacesOf } from '../sso/audit.ts'
import { transact } from '../unit-of-work.ts'
import { changeRoleAsOperator } from '../workspaces/members.ts'
import { addWorkspace } from '../workspaces/workspaces.ts'
import { checked, emailOf, passwordOf } from './checked.ts'
import { type Call, type Command, Refusal } from './command.ts'

const shownPassword = (shown: string | null) => (shown === null ? [] : [`Password, shown only now: ${shown}`])

function refuseWithoutPassword({ config }: Pick<Call, 'config'>, email: string) {
  if (needsSso(config, email)) {
    throw new Refusal('With BATON_SSO_ONLY=1 only the account of BATON_BREAK_GLASS has a password.')
  }
}

export const createOwner: Command = {
  name: 'create-owner',
  usage: '--email E-MAIL --name NAME --workspace NAME [--password-stdin]',
  summary: 'Creates an account, a workspace and its owner. Prints a new password, unless stdin has one.',
  parameters: {
    email: { kind: 'text', required: true },
    name: { kind: 'text', required: true },
    workspace: { kind: 'text', required: true },
    'password-stdin': { kind: 'flag' },
  },
  needs: 'database',
  async run(call) {
    const { ctx } = call
    const email = emailOf(call)
    const name = checked('name', call.arguments.text('name'))
    const workspaceName = checked('workspace', call.arguments.text('workspace'))
    const { password, shown } = passwordOf(call)
    refuseWithoutPassword(call, email)
    const passwordHash = await hashPassword(password)
    const { userId, workspace } = await transact(ctx, null, async (unit) => {
      // The operator needs no invitation.
      const config = { ...unit.config, signup: 'open' as const }
      const userId = await insertAccount({ ...unit, config }, { email, name, passwordHash })
      return { userId, workspace: await addWorkspace(unit, userId, workspaceName, createBuiltInAgent) }
    }).catch((error) => {
      if (isDuplicate(error, 'users_email')) throw new Refusal(`${email} has an account already.`)
      throw error
    })
    ctx.log.info({ user_id: userId, workspace_id: workspace.id }, 'operator created an owner')
    return {
      json: { user_id: userId, email, workspace_id: workspace.id, password: shown },
      text: [`Created ${email}, owner of ${workspace.name} (${workspace.id})`, ...shownPassword(shown)],
    }
  },
}

export const resetPassword: Command = {
  name: 'reset-password',
  usage: '--email E-MAIL [--password-stdin]',
  summary:
    'Sets a new password, and ends every login, OAuth grant and personal token of the person. Prints the password, unless stdin has one.',
  parameters: { email: { kind: 'text', required: true }, 'password-stdin': { kind: 'flag' } },
  needs: 'database',
  async run(call) {
    const { ctx } = call
    const email = emailOf(call)
    const { password, shown } = passwordOf(call)
    refuseWithoutPassword(call, email)
    const done = await resetAsOperator(ctx, email, password, async (unit, userId) => {
      await recordInWorkspacesOf(unit, userId, { action: 'operator.password_reset', subjectId: userId }, null)
      ctx.log.info({ user_id: userId }, 'operator reset a password')
    })
    if (!done) throw noAccount(email)
    return {
      json: { email, password: shown },
      text: [`Set a new password for ${email}; all logins and tokens ended`, ...shownPassword(shown)],
    }
  },
}

export const setRole: Command = {
  name: 'set-role',
  usage: '--workspace ID --email E-MAIL --role owner|admin|member',
  summary: 'Changes the role of a member. The last owner keeps the role.',
  parameters: {
    workspace: { kind: 'text', required: true },
    email: { kind: 'text', required: true },
    role: { kind: 'text', required: true },
  },
  needs: 'database',
  async run(call) {
    const { ctx } = call
    const email = emailOf(call)
    const role = checked('role', call.arguments.text('role')) as Role
    const { id, name } = await findWorkspace(ctx.db, call.arguments.text('workspace'))
    const userId = await findPerson(ctx.db, email)
    const member = await ctx.db.row(sql`
      select 1 from memberships where workspace_id = ${id} and user_id = ${userId}`)
    if (!member) throw new Refusal(`${email} is not a member of ${name} (${id}).`)
    const from = await changeRoleAsOperator(ctx, id, userId, role)
    ctx.log.info({ workspace_id: id, user_id: userId, from, to: role }, 'operator changed a role')
    return {
      json: { workspace_id: id, email, from, to: role },
      text: [
        from === role
          ? `${email} is ${role} of ${name} already`
          : `${email} was ${from} of ${name}, and is now ${role}`,
      ],
    }
  },
}

const noAccount = (email: string) => new Refusal(`No person has the e-mail address ${email}.`)

/** The id of the person with this address. */
export async function findPerson(db: Db, email: string): Promise<string> {
  const user = await db.row<{ id: string }>(sql`
    select id from users where email = ${email} and user_kind = 'human' and placeholder_in is null`)
  if (!user) throw noAccount(email)
  return user.id
}

export async function findWorkspace(db: Db, id: string): Promise<{ id: string; name: string }> {
  const workspace = await db.row<{ id: string; name: string }>(sql`select id, name from workspaces where id = ${id}`)
  if (!workspace) throw new Refusal(`There is no workspace ${id}: the command workspaces lists all.`)
  return workspace
}
