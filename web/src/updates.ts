import type { LiveChange } from '@baton/protocol'
import { refreshSession } from './agent-sessions/queries.ts'
import { queries } from './api.ts'
import { loadIssues, refreshIssue, removeIssue } from './issues/store.ts'
import { watch } from './live.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { forgetProject } from './projects/queries.ts'

const stale = (...queryKey: string[]) => void queries.invalidateQueries({ queryKey })

/** What is looked at again when something of its kind changed. */
const answers: Record<LiveChange['type'], (change: LiveChange) => void> = {
  Issue: ({ id, action }) => {
    if (action === 'remove') removeIssue(id)
    else void oneAtATime(`issue ${id}`, () => refreshIssue(id))
    stale('history', id)
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
  Workspace: () => {
    stale('workspace')
    // What one may do here may be another thing now.
    stale('me')
  },
  Agents: () => {
    stale('agents')
    stale('agent-apps')
    stale('installations')
    stale('workspace', 'people')
  },
}

/** Keeps what the app remembers true while the workspace changes elsewhere. */
export const followChanges = () =>
  watch((news) => {
    if (news.kind === 'resync') {
      void queries.invalidateQueries()
      void loadIssues()
    } else {
      answers[news.change.type]?.(news.change)
    }
  })
