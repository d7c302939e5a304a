import type { InboxThread, InboxThreadChange, ThreadState } from '@baton/protocol'
import { showError, showToast } from '../ui/toast.tsx'
import { api, queries } from './api.ts'
import { change, marked, markRead, type Shown } from './inbox-read.ts'

/** Takes a thread out of its list: archived, snoozed, or back among the open ones. */
export async function moveThread(thread: InboxThread, state: ThreadState, to: InboxThreadChange, text: string) {
  const { subject_id, unread_count, snoozed_until, archived_at } = thread
  const save = (body: InboxThreadChange) => api.updateInboxThread({ subject_id, ...body })
  const isThis = (other: InboxThread) => other.subject_id === subject_id
  if (
    !(await change(
      state,
      (other) => (isThis(other) ? null : other),
      () => save(to),
    ))
  )
    return
  void queries.invalidateQueries({ queryKey: ['inbox'] })
  const back = archived_at
    ? { archived: true }
    : { archived: false, snoozed_until, ...(unread_count > 0 && { read: false }) }
  showToast(text, {
    undo: () =>
      void save(back)
        .catch(showError)
        .then(() => queries.invalidateQueries({ queryKey: ['inbox'] })),
  })
}

export async function markAllRead(threads: InboxThread[]) {
  const unread = threads.filter(({ unread_count }) => unread_count > 0)
  if (unread.length === 0) return
  if (
    !(await change(
      'open',
      (thread) => marked(thread, true),
      () => api.readInbox(),
    ))
  )
    return
  showToast(unread.length === 1 ? 'Marked 1 as read' : `Marked ${unread.length} as read`, {
    undo: () => void markRead(unread, false),
  })
}

export async function archiveRead() {
  const isRead: Shown = (thread) => (thread.unread_count > 0 ? thread : null)
  if (!(await change('open', isRead, () => api.archiveReadThreads()))) return
  void queries.invalidateQueries({ queryKey: ['inbox'] })
  showToast('Archived everything that is read')
}
