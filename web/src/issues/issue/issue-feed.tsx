import type { Issue } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { SessionCard } from '../../agent-sessions/session-card.tsx'
import { Comments } from '../../comments/comments.tsx'
import { issueSessionsQuery } from '../../data/agent-sessions.ts'
import { useHistory } from './history.tsx'
import { Watchers } from './watchers.tsx'

/** Kept while the app is open, so that other issues are shown the same way. */
let withChanges = true

/** Comments, agent sessions and changes by time; of those at the same time, a change before the session it opened. */
export function IssueFeed({ issue }: { issue: Issue }) {
  const [changes, setChanges] = useState(withChanges)
  const history = useHistory(issue)
  const { data: sessions = [] } = useQuery(issueSessionsQuery(issue.id))
  const cards = sessions.map((session) => ({
    at: session.created_at,
    key: session.id,
    node: <SessionCard session={session} />,
  }))
  return (
    <section aria-label="Activity">
      <div className="flex h-8 items-center gap-2 pb-1">
        <h2 className="flex-1 text-xs font-medium text-ink-2">Activity</h2>
        <Watchers issue={issue} />
        <button
          type="button"
          aria-pressed={changes}
          onClick={() => {
            withChanges = !changes
            setChanges(withChanges)
          }}
          className="h-6 rounded px-1.5 text-xs text-ink-3 hover:bg-hover hover:text-ink"
        >
          {changes ? 'Hide changes' : `Show ${history.length === 1 ? '1 change' : `${history.length} changes`}`}
        </button>
      </div>
      <Comments
        targetType="issue"
        targetId={issue.id}
        isPrivate={issue.personal}
        others={changes ? [...history, ...cards] : cards}
      />
    </section>
  )
}
