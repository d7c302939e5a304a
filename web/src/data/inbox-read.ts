import type { InboxEntry } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useRef } from 'react'
import { showError, showToast } from '../ui/toast.tsx'
import { api, queries } from './api.ts'
import { inboxQuery } from './inbox.ts'
import { issueCodeOf } from './issue-code.ts'

const { queryKey } = inboxQuery

const mark = (ids: ReadonlySet<string>, read: boolean) =>
  queries.setQueryData(queryKey, (entries) =>
    entries?.map((entry) =>
      ids.has(entry.id) ? { ...entry, read_at: read ? new Date().toISOString() : null } : entry,
    ),
  )

/** Optimistic: shown at once, and reverted if the server refuses. */
async function change(ids: string[], read: boolean, save: () => Promise<unknown>, onError = showError) {
  await queries.cancelQueries({ queryKey })
  const before = queries.getQueryData(queryKey)
  mark(new Set(ids), read)
  try {
    await save()
    return true
  } catch (error) {
    queries.setQueryData(queryKey, before)
    onError(error)
    return false
  }
}

export const markRead = (entries: readonly InboxEntry[], read: boolean) =>
  markEach(
    entries.map(({ id }) => id),
    read,
  )

const markEach = (ids: string[], read: boolean) =>
  change(ids, read, () => Promise.all(ids.map((entry_id) => api.updateInboxEntry({ entry_id, read }))))

/** Marks an issue's notifications as read when the issue is opened, once the inbox is loaded. */
export function useMarkSeen(code: string, opened: boolean) {
  const isLoaded = useQuery(inboxQuery).isSuccess
  useEffect(() => {
    if (!opened || !isLoaded) return
    const entries = queries.getQueryData(queryKey) ?? []
    const ids = entries.filter((entry) => !entry.read_at && issueCodeOf(entry) === code).map(({ id }) => id)
    if (ids.length > 0) void markEach(ids, true)
  }, [code, opened, isLoaded])
}

const finishedIn = (sessionId: string) => (entries: InboxEntry[]) =>
  entries.find(({ kind, subject_id, read_at }) => kind === 'agent_finished' && subject_id === sessionId && !read_at)
    ?.id ?? null

const settledAfterMs = 500
const refreshInbox = () => void queries.invalidateQueries({ queryKey })

/** Marks "finished" as read if the user watched it: it arrives while the session is on the screen of a visible tab. */
export function useMarkWatched(sessionId: string, ref: RefObject<HTMLElement | null>) {
  const { data: entryId } = useQuery({ ...inboxQuery, select: finishedIn(sessionId) })
  const onScreen = useRef(false)
  const before = useRef<string | null | undefined>(undefined)
  useEffect(() => {
    if (!ref.current) return
    const observer = new IntersectionObserver(([entry]) => {
      onScreen.current = entry?.isIntersecting ?? false
    })
    observer.observe(ref.current)
    return () => observer.disconnect()
  }, [ref])
  useEffect(() => {
    if (entryId === undefined) return
    // An entry that was there before was not watched.
    if (before.current === undefined) before.current = entryId
    const isNew = entryId !== before.current
    if (!entryId || !isNew || !onScreen.current || document.visibilityState !== 'visible') return
    // A question may follow the answer and replace the entry.
    const save = () => api.updateInboxEntry({ entry_id: entryId, read: true })
    const timer = setTimeout(() => void change([entryId], true, save, refreshInbox), settledAfterMs)
    return () => clearTimeout(timer)
  }, [entryId])
}

export async function markAllRead(entries: InboxEntry[]) {
  const unread = entries.filter(({ read_at }) => !read_at)
  if (unread.length === 0) return
  const ids = unread.map(({ id }) => id)
  if (!(await change(ids, true, () => api.readInbox()))) return
  showToast(ids.length === 1 ? 'Marked 1 as read' : `Marked ${ids.length} as read`, {
    undo: () => void markEach(ids, false),
  })
}
