import type { InboxThread, ThreadState } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useRef } from 'react'
import { showError } from '../ui/toast.tsx'
import { api, queries } from './api.ts'
import { inboxQuery, threadsQuery } from './inbox.ts'
import { issueCodeOf } from './issue-code.ts'

/** Null: the thread leaves the list. */
export type Shown = (thread: InboxThread) => InboxThread | null

/** Optimistic: shown at once, and reverted if the server refuses. */
export async function change(state: ThreadState, shown: Shown, save: () => Promise<unknown>, onError = showError) {
  const { queryKey } = threadsQuery(state)
  await queries.cancelQueries({ queryKey })
  const before = queries.getQueryData(queryKey)
  queries.setQueryData(queryKey, (threads) => threads?.flatMap((thread) => shown(thread) ?? []))
  try {
    await save()
    return true
  } catch (error) {
    queries.setQueryData(queryKey, before)
    onError(error)
    return false
  }
}

export const marked = (thread: InboxThread, read: boolean): InboxThread => {
  const read_at = read ? new Date().toISOString() : null
  return { ...thread, unread_count: read ? 0 : 1, latest: { ...thread.latest, read_at } }
}

export const markRead = (threads: readonly InboxThread[], read: boolean, state: ThreadState = 'open') => {
  const ids = new Set(threads.map(({ subject_id }) => subject_id))
  return change(
    state,
    (thread) => (ids.has(thread.subject_id) ? marked(thread, read) : thread),
    () => Promise.all([...ids].map((subject_id) => api.updateInboxThread({ subject_id, read }))),
  )
}

/** Marks an issue's notifications as read when the issue is opened, once the inbox is loaded. */
export function useMarkSeen(code: string, opened: boolean) {
  const isLoaded = useQuery(inboxQuery).isSuccess
  useEffect(() => {
    if (!opened || !isLoaded) return
    const threads = queries.getQueryData(inboxQuery.queryKey) ?? []
    const unread = threads.filter((thread) => thread.unread_count > 0 && issueCodeOf(thread) === code)
    if (unread.length > 0) void markRead(unread, true)
  }, [code, opened, isLoaded])
}

const finishedIn = (sessionId: string) => (threads: InboxThread[]) =>
  threads.find(
    ({ latest: { kind, subject_id, read_at } }) =>
      kind === 'agent_finished' && subject_id === sessionId && read_at === null,
  )?.latest.id ?? null

const settledAfterMs = 500
const refreshInbox = () => void queries.invalidateQueries({ queryKey: ['inbox'] })

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
    const shown: Shown = (thread) =>
      thread.latest.id === entryId ? { ...marked(thread, true), unread_count: thread.unread_count - 1 } : thread
    const timer = setTimeout(() => void change('open', shown, save, refreshInbox), settledAfterMs)
    return () => clearTimeout(timer)
  }, [entryId])
}
