import type { LiveChange } from '@baton/protocol'
import { refreshSession } from './agent-sessions.ts'
import { currentWorkspaceId, lookAgain, queries } from './api.ts'
import { loadIssues, refreshIssue, removeIssue } from './issues.ts'
import { goLive, watch } from './live.ts'
import { meQuery } from './me.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { forgetProject } from './projects.ts'

const stale = (...queryKey: string[]) => void lookAgain(...queryKey)

/** First what one is here: whoever was removed has nothing more to look at, and the shell shows them out. */
async function refreshWorkspace() {
  await queries.refetchQueries({ queryKey: meQuery.queryKey })
  const me = queries.getQueryData(meQuery.queryKey)
  if (me?.workspaces.some(({ id }) => id === currentWorkspaceId())) stale('workspace')
}

/** What is looked at again when something of its kind changed. */
const answers: Record<LiveChange['type'], (change: LiveChange) => void> = {
  Issue: ({ id, action }) => {
    if (action === 'remove') removeIssue(id)
    else {
      void oneAtATime(`issue ${id}`, () => refreshIssue(id))
      stale('history', id)
    }
    // How much of theirs is done.
    stale('projects')
    stale('project')
  },
  Project: ({ id, action }) => {
    stale('projects')
    if (action !== 'remove') return stale('project', id)
    forgetProject(id)
    // Issues are taken out of what is gone, without a word about each.
    void loadIssues()
  },
  Comment: ({ parent_id }) => {
    if (parent_id) stale('comments', parent_id)
  },
  AgentSession: ({ id }) => {
    void oneAtATime(`session ${id}`, () => refreshSession(id))
  },
  Inbox: () => stale('inbox'),
  Workspace: () => void oneAtATime('workspace', refreshWorkspace),
  Agents: () => {
    stale('agents')
    stale('agent-apps')
    stale('installations')
    stale('workspace', 'people')
  },
}

/** Keeps what the app remembers true while the workspace changes elsewhere. */
const followChanges = () =>
  watch((news) => {
    if (news.kind === 'resync') {
      void queries.invalidateQueries()
      void loadIssues()
    } else if (news.kind === 'begun') {
      // What was read before somebody listened may have changed since.
      void queries.invalidateQueries({ predicate: ({ state }) => state.dataUpdatedAt > 0 })
    } else {
      answers[news.change.type]?.(news.change)
    }
  })

let begun = false
/** Before the first screen reads anything; once for each time the app is loaded. */
export function beginFollowing() {
  const workspaceId = currentWorkspaceId()
  if (begun || !workspaceId) return
  begun = true
  followChanges()
  goLive(workspaceId)
}
