import { readdir } from 'node:fs/promises'
import { emailOf } from './checked.ts'
import { type Command, UsageError } from './command.ts'
import { erasePerson } from './erase.ts'
import { findPerson } from './people.ts'

export const erasePersonCommand: Command = {
  name: 'erase-person',
  usage: '--email E-MAIL --confirm E-MAIL',
  summary:
    'Removes the personal data of a person for ever and keeps their shared work under "Deleted person". If it is interrupted, run it again.',
  parameters: { email: { kind: 'text', required: true }, confirm: { kind: 'text', required: true } },
  needs: 'database',
  async run(call) {
    const { ctx } = call
    const email = emailOf(call)
    if (call.arguments.text('confirm').trim().toLowerCase() !== email) {
      throw new UsageError('--confirm must be the same e-mail address')
    }
    const userId = await findPerson(ctx.db, email)
    const erased = await erasePerson(ctx, userId, { by: 'operator' })
    const { dir } = ctx.config.backup
    const oldest = dir ? await oldestBackup(dir) : null
    return {
      json: { ...erased, oldest_backup: oldest },
      text: [
        `Erased ${erased.user_id}`,
        ...Object.entries(erased.counts).map(([name, count]) => `  ${name.replaceAll('_', ' ')}: ${count}`),
        `Events and deliveries that contain the name are deleted by ${erased.events_until}`,
        dir
          ? `Backups contain the person until they are removed${oldest ? `; the oldest is ${oldest}` : ''}. A restore erases the person again.`
          : 'BATON_BACKUP_DIR is not set: after a restore of an older backup, run this command again.',
      ],
    }
  },
}

/** Its name contains its time. */
const oldestBackup = async (dir: string) =>
  (await readdir(dir)).filter((name) => /^baton-.*\.backup$/.test(name)).sort()[0] ?? null
