import type { Issue, LiveChange } from '@baton/protocol'
import { refreshSession } from './agent-sessions.ts'
import { currentWorkspaceId, queries, reread, rereadKey } from './api.ts'
import {
  areIssuesComplete,
  knownIssue,
  loadIssues,
  onIssueChange,
  publishSoon,
  refreshIssue,
  removeIssue,
} from './issues.ts'
import { goLive, watch } from './live.ts'
import { meQuery } from './me.ts'
import { forgetProject } from './projects.ts'
import { singleFlight } from './single-flight.ts'

/** A new read cancels the one under way: with a change every moment, such as of an import, none would end. */
const stale = (...queryKey: string[]) => void singleFlight(`stale ${queryKey}`, () => rereadKey(...queryKey))

/** Reads the user's memberships first: a removed member has nothing else to read, and the shell shows that. */
async function refreshWorkspace() {
  await queries.refetchQueries({ queryKey: meQuery.queryKey })
  const me = queries.getQueryData(meQuery.queryKey)
  if (me?.workspaces.some(({ id }) => id === currentWorkspaceId())) stale('workspace')
}

/** Reads everything again, unless the user is no longer a member. */
async function refreshAll() {
  await queries.refetchQueries({ queryKey: meQuery.queryKey })
  const me = queries.getQueryData(meQuery.queryKey)
  if (me && !me.workspaces.some(({ id }) => id === currentWorkspaceId())) return
  await Promise.all([
    queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== meQuery.queryKey[0] }),
    loadIssues(),
  ])
}

/** Skips projects known to be deleted: when one is deleted, its issues change too. */
const refreshProjects = () =>
  void singleFlight('projects', () =>
    Promise.all([
      rereadKey('projects'),
      reread({ queryKey: ['project'], predicate: ({ state }) => state.data !== null }),
    ]),
  )

/** The fields of an issue that count for its project's progress. */
const shareOfProgress = (issue: Issue | undefined) =>
  issue?.project_id ? `${issue.project_id} ${issue.status === 'done'} ${issue.personal}` : ''

function issueChanged({ id, action }: LiveChange) {
  const isKnown = knownIssue(id) !== undefined
  // Otherwise onIssueChange compares the issue before and after.
  if (!areIssuesComplete() || (action === 'remove' && !isKnown)) refreshProjects()
  if (action === 'remove') removeIssue(id, publishSoon)
  else {
    void singleFlight(`issue ${id}`, () => refreshIssue(id, publishSoon))
    stale('history', id)
    stale('pull-requests', id)
    stale('related', id)
  }
}

/** Reads the affected data again, by the type of the change. */
const handlers: Record<LiveChange['type'], (change: LiveChange) => void> = {
  Issue: issueChanged,
  Project: ({ id, action }) => {
    stale('projects')
    if (action !== 'remove') {
      stale('project-files', id)
      return stale('project', id)
    }
    forgetProject(id)
    // The issues of a deleted project lose it without a hint for each.
    void loadIssues()
  },
  Comment: ({ parent_id }) => {
    if (!parent_id) return
    for (const key of ['comments', 'reactions', 'related']) stale(key, parent_id)
  },
  AgentSession: ({ id }) => {
    void singleFlight(`session ${id}`, () => refreshSession(id))
    stale('pull-requests', id)
  },
  Inbox: () => stale('inbox'),
  Workspace: () => void singleFlight('workspace', refreshWorkspace),
  Agents: () => {
    stale('agents')
    stale('agent-apps')
    stale('installations')
    stale('workspace', 'people')
  },
  Import: ({ id, action }) => {
    stale('imports')
    if (action !== 'remove') stale('import', id)
    // It has ended: imported issues have no hints of their own.
    if (action === 'create') void singleFlight('everything', refreshAll)
  },
}

/** Keeps cached data up to date while the workspace changes elsewhere. */
function followChanges() {
  onIssueChange((before, after) => {
    if (shareOfProgress(before) !== shareOfProgress(after)) refreshProjects()
  })
  watch((news) => {
    if (news.kind === 'resync') {
      void singleFlight('everything', refreshAll)
    } else if (news.kind === 'begun') {
      // Data read before the stream was open may have changed since.
      void queries.invalidateQueries({ predicate: ({ state }) => state.dataUpdatedAt > 0 })
    } else {
      handlers[news.change.type]?.(news.change)
    }
  })
}

let begun = false
/** Call before the first screen reads anything. Only the first call of a page load has an effect. */
export function startLiveUpdates() {
  const workspaceId = currentWorkspaceId()
  if (begun || !workspaceId) return
  begun = true
  followChanges()
  goLive(workspaceId)
  void import('./presence.ts').then(({ reportPresence }) => reportPresence()).catch(() => {})
}
