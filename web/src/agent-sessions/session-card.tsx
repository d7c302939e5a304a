import type { AgentActivity, AgentSession } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ChevronDown, ChevronUp, Maximize2 } from 'lucide-react'
import { useRef, useState } from 'react'
import { activitiesQuery } from '../data/activities.ts'
import { useMarkWatched } from '../data/inbox-read.ts'
import { anchorOf, useReveal } from '../delegation/reveal.ts'
import { Button } from '../ui/button.tsx'
import { cx } from '../ui/class-names.ts'
import { isolated } from '../ui/isolated.ts'
import { Loaded } from '../ui/loaded.tsx'
import { Tip } from '../ui/tip.tsx'
import { Activities } from './activities.tsx'
import { Activity } from './activity.tsx'
import { conversationOf, isReplaced, latestExchange } from './conversation.ts'
import { SessionHeader, useAgent } from './header.tsx'
import { Links } from './links.tsx'
import { Plan } from './plan.tsx'
import { Results } from './results.tsx'
import { Reply } from './session-panel.tsx'

const nothing: AgentActivity[] = []

/** A session in the feed of an issue or project: state and latest activity, or everything when expanded. */
export function SessionCard({ session }: { session: AgentSession }) {
  const [open, setOpen] = useState(false)
  const query = useQuery(activitiesQuery(session.id))
  const activities = query.data ?? nothing
  const agent = useAgent(session)
  const ref = useRef<HTMLElement>(null)
  useReveal(ref, session.id)
  useMarkWatched(session.id, ref)
  const needsYou = session.state === 'awaitingInput' && !session.ended_at
  return (
    <section
      ref={ref}
      id={anchorOf(session.id)}
      data-session={session.id}
      aria-label={`Session of ${isolated(agent.name)}`}
      className={cx(
        'scroll-mt-4 rounded-lg border bg-surface shadow-card',
        needsYou ? 'border-accent/50' : 'border-l-2 border-l-agent',
      )}
    >
      <div className="space-y-2 px-3 py-2.5">
        <SessionHeader
          session={session}
          activities={activities}
          actions={
            <Tip label="Open session page">
              <Link
                to="/agent-session/$sessionId"
                params={{ sessionId: session.id }}
                aria-label="Open session"
                className="inline-flex size-7 items-center justify-center rounded text-ink-3 hover:bg-hover hover:text-ink"
              >
                <Maximize2 size={14} aria-hidden />
              </Link>
            </Tip>
          }
        />
        <Plan plan={session.plan} />
        <Links urls={session.external_urls} />
        <Results session={session} />
      </div>
      <div className="border-t px-3 py-1.5">
        <Loaded query={query} rows={2}>
          {(activities) =>
            open ? (
              <Activities session={session} activities={activities} className="max-h-[min(36rem,65vh)]" />
            ) : (
              <LatestExchange session={session} activities={activities} agent={agent.name} />
            )
          }
        </Loaded>
        {activities.length > 1 && (
          <Button
            look="quiet"
            size="sm"
            icon={open ? ChevronUp : ChevronDown}
            aria-expanded={open}
            onClick={() => setOpen(!open)}
            className="-ml-1"
          >
            {open ? 'Show latest only' : `Show all activity (${activities.length})`}
          </Button>
        )}
      </div>
      <div className="space-y-2 border-t px-3 py-2.5 empty:hidden">
        <Reply session={session} activities={activities} />
      </div>
    </section>
  )
}

/** The latest activity, and the message it follows with the answer before that. */
function LatestExchange(props: { session: AgentSession; activities: AgentActivity[]; agent: string }) {
  const { session, activities, agent } = props
  const entries = latestExchange(
    conversationOf(
      session,
      activities.filter((activity) => !isReplaced(activity)),
    ),
  )
  if (entries.length === 0) return <p className="px-1 py-1 text-ink-3">No activity from {agent} yet.</p>
  return entries.map((entry) => <Activity key={entry.activity.id} entry={entry} />)
}
