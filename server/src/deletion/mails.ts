import type { Keyring } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import type { Composed, Composers } from '../mail/compose.ts'
import { queueMail } from '../mail/queue.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { Deletion } from '../workspaces/deletion.ts'

/** One mail for each owner. After the purge they belong to no workspace, and the name is all that is left of it. */
export async function mailOwners(
  unit: Pick<UnitOfWork, 'tx' | 'now' | 'config'>,
  keys: Keyring,
  kind: 'deletion_started' | 'deletion_soon' | 'deletion_done',
  { id, name, ownerIds }: Deletion,
) {
  const about = kind === 'deletion_done' ? { data: { name } } : { workspaceId: id }
  for (const userId of ownerIds) await queueMail(unit, keys, { kind, userId, ...about })
}

const pending =
  (subject: (workspace: string, day: string) => string): Composers[string] =>
  async ({ db, config }, { workspaceId, userId }): Promise<Composed | null> => {
    const deletion = await db.row<{ name: string; at: string }>(sql`
      select w.name, w.deletion_at as at from workspaces w
      join memberships m on m.workspace_id = w.id and m.user_id = ${userId} and m.role = 'owner'
      where w.id = ${workspaceId} and w.deletion_at is not null and w.purged_since is null`)
    if (!deletion) return null
    const { name, at } = deletion
    const day = at.slice(0, 10)
    return {
      subject: subject(name, day),
      paragraphs: [
        `All data of the workspace ${name} will be deleted on ${day} at ${at.slice(11, 16)} UTC: issues, projects, comments, files, agents and settings. It cannot be restored afterwards.`,
        'Until then members can read everything, and nothing can be changed. You can export the data, or cancel the deletion.',
      ],
      action: { label: 'Export or cancel', url: `${config.appUrl}/settings/export` },
      footer: ['You receive this mail because you are an owner of the workspace.'],
    }
  }

export const deletionMails: Composers = {
  deletion_started: pending((workspace, day) => `${workspace} will be deleted on ${day}`),
  deletion_soon: pending((workspace, day) => `Reminder: ${workspace} will be deleted on ${day}`),
  async deletion_done(_ctx, { data }) {
    return {
      subject: `${data.name} was deleted`,
      paragraphs: [`The workspace ${data.name} and all its data were deleted. It cannot be restored.`],
      footer: ['You receive this mail because you were an owner of the workspace.'],
    }
  },
}
