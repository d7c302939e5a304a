import type { InboxEntry } from '@baton/protocol'
import { api, messageOf, queries } from '../api.ts'
import { say } from '../ui/toast.tsx'
import { inboxQuery } from './queries.ts'

const { queryKey } = inboxQuery

const mark = (ids: ReadonlySet<string>, read: boolean) =>
  queries.setQueryData(queryKey, (entries) =>
    entries?.map((entry) =>
      ids.has(entry.id) ? { ...entry, read_at: read ? new Date().toISOString() : null } : entry,
    ),
  )

/** At once on the screen, then on the server; refused, it is taken back. */
async function change(ids: string[], read: boolean, save: () => Promise<unknown>) {
  await queries.cancelQueries({ queryKey })
  const before = queries.getQueryData(queryKey)
  mark(new Set(ids), read)
  try {
    await save()
    return true
  } catch (error) {
    queries.setQueryData(queryKey, before)
    say(messageOf(error), { tone: 'bad' })
    return false
  }
}

export const markRead = ({ id }: InboxEntry, read: boolean) =>
  change([id], read, () => api.updateInboxEntry({ entry_id: id, read }))

export async function markAllRead(entries: InboxEntry[]) {
  const unread = entries.filter(({ read_at }) => !read_at)
  if (unread.length === 0) return
  const ids = unread.map(({ id }) => id)
  if (!(await change(ids, true, () => api.readInbox()))) return
  const back = () =>
    change(ids, false, () => Promise.all(ids.map((entry_id) => api.updateInboxEntry({ entry_id, read: false }))))
  say(ids.length === 1 ? 'Marked one as read.' : `Marked ${ids.length} as read.`, {
    undo: () => void back(),
  })
}
