import type { Issue } from '@baton/protocol'
import { useMemo, useSyncExternalStore } from 'react'
import { api, isBatonError } from '../api.ts'

/**
 * Every issue the person may see, in one place: lists, boards and pages read from here, so that opening one costs
 * nothing and an edit shows everywhere at once. Filled page by page in the background, kept true by the live stream.
 */
const issues = new Map<string, Issue>()
const codes = new Map<string, string>()
/** Told apart from a fetch that began before it: what was edited meanwhile is not overwritten by what was read. */
const editedAt = new Map<string, number>()

/** More than this is found by searching. */
const most = 20_000

export interface Snapshot {
  issues: readonly Issue[]
  /** Nothing more is to come. */
  complete: boolean
  error: unknown
}

let snapshot: Snapshot = { issues: [], complete: false, error: null }
let loading: Promise<void> | null = null
let again = false
const listeners = new Set<() => void>()
let told = true

/** Many changes at once are shown at once. */
function changed(about: Partial<Omit<Snapshot, 'issues'>> = {}) {
  snapshot = { ...snapshot, ...about }
  if (!told) return
  told = false
  queueMicrotask(() => {
    told = true
    snapshot = { ...snapshot, issues: [...issues.values()] }
    for (const listener of listeners) listener()
  })
}

function keep(issue: Issue) {
  const known = issues.get(issue.id)
  if (known && known.code !== issue.code) codes.delete(known.code)
  issues.set(issue.id, issue)
  codes.set(issue.code, issue.id)
}

export function putIssue(issue: Issue) {
  keep(issue)
  changed()
}

export function removeIssue(id: string) {
  const known = issues.get(id)
  if (!known) return
  issues.delete(id)
  codes.delete(known.code)
  changed()
}

/** By its id or code, if it is at hand. */
export const knownIssue = (idOrCode: string) => issues.get(idOrCode) ?? issues.get(codes.get(idOrCode) ?? '')

/** Shows a change before the server has said yes; returns what takes it back. */
export function changeLocally(id: string, change: Partial<Issue>): () => void {
  const before = issues.get(id)
  if (!before) return () => {}
  editedAt.set(id, performance.now())
  putIssue({ ...before, ...change })
  return () => {
    const now = issues.get(id)
    if (!now) return
    const undone = Object.fromEntries(Object.keys(change).map((field) => [field, before[field as keyof Issue]]))
    putIssue({ ...now, ...undone })
  }
}

/** Reads one anew; one that is gone, or no longer to be seen, goes. */
export async function refreshIssue(idOrCode: string): Promise<Issue | null> {
  const began = performance.now()
  try {
    const issue = await api.getIssue({ issue_id: idOrCode })
    if ((editedAt.get(issue.id) ?? 0) > began) return issues.get(issue.id) ?? issue
    putIssue(issue)
    return issue
  } catch (error) {
    if (!isBatonError(error, 'RESOURCE_NOT_FOUND')) throw error
    const known = knownIssue(idOrCode)
    if (known) removeIssue(known.id)
    return null
  }
}

/** Loads everything once; again when changes may have been missed. */
export function loadIssues(): Promise<void> {
  if (loading) {
    again = true
    return loading
  }
  loading = load().finally(() => {
    loading = null
    if (again) {
      again = false
      void loadIssues()
    }
  })
  return loading
}

async function load() {
  const began = performance.now()
  const seen = new Set<string>()
  let cursor: string | null | undefined
  try {
    do {
      const page = await api.listIssues({ limit: 100, ...(cursor && { cursor }) })
      for (const issue of page.data) {
        seen.add(issue.id)
        if ((editedAt.get(issue.id) ?? 0) <= began) keep(issue)
      }
      cursor = page.next_cursor
      changed({ error: null })
    } while (cursor && seen.size < most)
    // What was here and is no longer listed has been deleted or hidden.
    if (!cursor) {
      for (const issue of [...issues.values()]) {
        if (!seen.has(issue.id) && (editedAt.get(issue.id) ?? 0) <= began) removeIssue(issue.id)
      }
    }
    changed({ complete: true })
  } catch (error) {
    changed({ error })
  }
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  if (!snapshot.complete && !loading) void loadIssues()
  return () => {
    listeners.delete(listener)
  }
}

export const useIssues = () => useSyncExternalStore(subscribe, () => snapshot)

const subscribeOnly = (listener: () => void) => {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

/** One issue, at once if it is at hand. Does not fetch: see refreshIssue. */
export const useIssue = (idOrCode: string) => useSyncExternalStore(subscribeOnly, () => knownIssue(idOrCode))

/** Those that pass, in order; computed anew only when something changed. */
export function useIssuesWhere(passes: (issue: Issue) => boolean, deps: readonly unknown[]) {
  const { issues, complete, error } = useIssues()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the caller names what its condition depends on
  const found = useMemo(() => issues.filter(passes), [issues, ...deps])
  return { issues: found, complete, error }
}
