import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../db/sql.ts'
import { purgeAtOnce } from '../deletion/purge.ts'
import { type Command, UsageError } from './command.ts'
import { findWorkspace } from './people.ts'

interface ListedWorkspace {
  id: string
  name: string
  owners: string[]
  members: number
  issues: number
  bytes: number
  deletion_at: string | null
}

export const listWorkspaces: Command = {
  name: 'workspaces',
  usage: '',
  summary: 'Lists all workspaces with their owners, members, issues, and the bytes of their files.',
  parameters: {},
  needs: 'database',
  async run({ ctx }) {
    const workspaces = await ctx.db.rows<ListedWorkspace>(sql`
      select w.id, w.name, w.deletion_at, array(
          select u.email from memberships m join users u on u.id = m.user_id
          where m.workspace_id = w.id and m.role = 'owner' order by m.joined_at, u.id) as owners,
        (select count(*)::int from memberships m where m.workspace_id = w.id) as members,
        (select count(*)::int from issues i where i.workspace_id = w.id) as issues,
        (select coalesce(sum(f.bytes), 0)::float8 from files f where f.workspace_id = w.id) as bytes
      from workspaces w order by w.id`)
    return {
      json: { workspaces },
      text:
        workspaces.length === 0
          ? ['There is no workspace']
          : workspaces.map(
              ({ id, name, owners, members, issues, bytes, deletion_at }) =>
                `${id}  ${name}: ${owners.join(', ') || 'no owner'}; ${counted(members, 'member')}, ${counted(issues, 'issue')}, ${counted(bytes, 'byte')} of files` +
                (deletion_at ? `; will be deleted at ${deletion_at}` : ''),
            ),
    }
  },
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

const retryMs = 1000

export const deleteWorkspace: Command = {
  name: 'delete-workspace',
  usage: 'ID --confirm NAME',
  summary:
    'Deletes a workspace with all its data and files at once. NAME is its exact name. If it is interrupted, run it again.',
  parameters: {
    id: { kind: 'text', positional: true, required: true },
    confirm: { kind: 'text', required: true },
  },
  needs: 'database',
  async run({ arguments: args, ctx, progress, signal }) {
    const { id, name } = await findWorkspace(ctx.db, args.text('id'))
    if (args.text('confirm') !== name) throw new UsageError(`--confirm must be the exact name of ${id}`)
    progress(`Deleting ${name} (${id}) …`)
    // A worker that purges it at the same time holds it for short moments.
    while (!(await purgeAtOnce(ctx, id))) await sleep(retryMs, undefined, { signal })
    ctx.log.info({ workspace_id: id }, 'operator deleted a workspace')
    return { json: { id, name }, text: [`Deleted ${name} (${id})`] }
  },
}
