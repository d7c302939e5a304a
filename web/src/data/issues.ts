import type { Issue } from '@baton/protocol'
import { useMemo, useSyncExternalStore } from 'react'
import { api, isBatonError } from './api.ts'
import { whenHearing } from './live.ts'

/**
 * Every issue the person may see, in one place: lists, boards and pages read from here, so that opening one costs
 * nothing and an edit shows everywhere at once. Filled page by page in the background, kept true by the live stream.
 */
const issues = new Map<string, Issue>()
const codes = new Map<string, string>()
/** As the server last said, and what has been changed here since without an answer yet: together they are what is shown. */
const said = new Map<string, Issue>()
const unanswered = new Map<string, Partial<Issue>[]>()
/** When each was last heard of: what a list that was asked for before leaves out need not be gone. */
const heardAt = new Map<string, number>()

/** More than this is found by searching. */
const most = 20_000
/** While thousands come in, the screen is drawn again this often at most, so that it can be worked with meanwhile. */
const drawnEveryMs = 400

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

function show(id: string) {
  const issue = said.get(id)
  if (!issue) return
  const known = issues.get(id)
  if (known && known.code !== issue.code) codes.delete(known.code)
  const changes = unanswered.get(id)
  issues.set(id, changes ? Object.assign({}, issue, ...changes) : issue)
  codes.set(issue.code, id)
}

/** Answers may overtake each other; the newest of what the server said counts. */
function keep(issue: Issue) {
  heardAt.set(issue.id, performance.now())
  const known = said.get(issue.id)
  if (known && known.updated_at > issue.updated_at) return
  said.set(issue.id, issue)
  show(issue.id)
}

export function putIssue(issue: Issue) {
  keep(issue)
  changed()
}

export function removeIssue(id: string) {
  const known = issues.get(id)
  if (!known) return
  for (const map of [issues, said, unanswered, heardAt]) map.delete(id)
  codes.delete(known.code)
  changed()
}

/** By its id or code, if it is at hand. */
export const knownIssue = (idOrCode: string) => issues.get(idOrCode) ?? issues.get(codes.get(idOrCode) ?? '')

/** Shows a change before the server has said yes; returns what ends that, once the answer is here. */
export function changeLocally(id: string, change: Partial<Issue>): () => void {
  if (!issues.has(id)) return () => {}
  unanswered.set(id, [...(unanswered.get(id) ?? []), change])
  show(id)
  changed()
  return () => {
    const left = unanswered.get(id)?.filter((one) => one !== change)
    if (left?.length) unanswered.set(id, left)
    else unanswered.delete(id)
    show(id)
    changed()
  }
}

/** Reads one anew; one that is gone, or no longer to be seen, goes. */
export async function refreshIssue(idOrCode: string): Promise<Issue | null> {
  try {
    const issue = await api.getIssue({ issue_id: idOrCode })
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
  await whenHearing(1000)
  const began = performance.now()
  const seen = new Set<string>()
  let drawnAt = 0
  let cursor: string | null | undefined
  try {
    do {
      const page = await api.listIssues({ limit: 100, ...(cursor && { cursor }) })
      for (const issue of page.data) {
        seen.add(issue.id)
        keep(issue)
      }
      cursor = page.next_cursor
      if (performance.now() - drawnAt < drawnEveryMs) continue
      drawnAt = performance.now()
      changed({ error: null })
    } while (cursor && seen.size < most)
    // What was here and is no longer listed has been deleted or hidden.
    if (!cursor) {
      for (const id of [...issues.keys()]) {
        if (!seen.has(id) && (heardAt.get(id) ?? 0) <= began) removeIssue(id)
      }
    }
    changed({ complete: true, error: null })
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
