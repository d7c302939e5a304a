import { sha256 } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import type { Composers } from '../mail/compose.ts'

interface Invited {
  workspace: string
  inviter: string | null
  role: string
  email: string
}

export const invitationMails: Composers = {
  /** Nothing to send when the invitation was used, revoked or mailed again with another link. */
  async invitation({ db, config }, { data, secret }) {
    const token = secret ?? ''
    const invited = await db.row<Invited>(sql`
      select w.name as workspace, u.display_name as inviter, i.role, i.email
      from invitations i join workspaces w on w.id = i.workspace_id left join users u on u.id = i.invited_by
      where i.id = ${String(data.invitation_id)} and i.mail_token_hash = ${sha256(token)}`)
    if (!invited) return null
    const { workspace, inviter, role, email } = invited
    const article = role === 'member' ? 'a' : 'an'
    return {
      subject: inviter ? `${inviter} invited you to ${workspace}` : `You are invited to ${workspace}`,
      paragraphs: [
        `${inviter ? `${inviter} invited you` : 'You are invited'} to join the workspace ${workspace} as ${article} ${role}.`,
      ],
      action: {
        label: 'Join the workspace',
        url: `${config.appUrl}/invitations/accept#${new URLSearchParams({ token, email })}`,
      },
      footer: [
        'The link works once and expires 7 days after the invitation.',
        'If you do not know the sender, ignore this mail.',
      ],
    }
  },
}
