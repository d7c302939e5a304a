import type { Review, ReviewDetail } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ClipboardCheck, FileDiff } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Links } from '../agent-sessions/links.tsx'
import { Plan } from '../agent-sessions/plan.tsx'
import { ChangesSum } from '../agent-sessions/results.tsx'
import { Decision } from '../agent-sessions/review-bar.tsx'
import { reviewQuery, useReviews } from '../data/reviews.ts'
import { cx } from '../ui/class-names.ts'
import { Page } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Markdown } from '../ui/markdown.tsx'
import { useCommands } from '../ui/shortcuts.ts'
import { Empty } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { changeWords } from './change-words.ts'

/** What agents delivered and people have to decide, longest waiting first. */
export function ReviewsScreen() {
  const reviews = useReviews()
  return (
    <Page title="Waiting for review">
      <Loaded query={reviews}>
        {(data) =>
          data.length === 0 ? (
            <Empty icon={ClipboardCheck} title="Nothing waits for a review">
              With review on in a team’s settings, the answers of agents to delegated issues appear here.
            </Empty>
          ) : (
            <Queue reviews={data} />
          )
        }
      </Loaded>
    </Page>
  )
}

function Queue({ reviews }: { reviews: Review[] }) {
  const [chosen, setChosen] = useState<string | null>(null)
  const at = Math.max(
    0,
    reviews.findIndex(({ id }) => id === chosen),
  )
  const current = reviews[at] as Review
  const list = useRef<HTMLUListElement>(null)
  const go = (step: 1 | -1) => setChosen((reviews[at + step] ?? current).id)
  useEffect(() => {
    list.current?.querySelector(`[data-review="${current.id}"]`)?.scrollIntoView({ block: 'nearest' })
  }, [current.id])
  useCommands([
    { id: 'review.next', title: 'Next review', section: 'View', keys: 'j', run: () => go(1) },
    { id: 'review.previous', title: 'Previous review', section: 'View', keys: 'k', run: () => go(-1) },
  ])
  return (
    <div className="flex h-full min-h-0 max-md:flex-col">
      <ul
        ref={list}
        aria-label="Waiting for review"
        className="shrink-0 divide-y overflow-y-auto border-r max-md:max-h-48 max-md:border-r-0 max-md:border-b md:w-80"
      >
        {reviews.map((review) => (
          <li key={review.id}>
            <button
              type="button"
              data-review={review.id}
              aria-current={review.id === current.id}
              onClick={() => setChosen(review.id)}
              className={cx(
                'block w-full px-4 py-2.5 text-left hover:bg-hover',
                review.id === current.id && 'bg-hover shadow-[inset_2px_0_var(--accent)]',
              )}
            >
              <span className="flex gap-2">
                <span className="shrink-0 text-ink-2">{review.issue?.code}</span>
                <span className="min-w-0 truncate font-medium">{review.issue?.title}</span>
              </span>
              <span className="flex gap-2 text-xs text-ink-2">
                <bdi className="min-w-0 flex-1 truncate">{review.agent.name}</bdi>
                {review.round > 1 && <span>round {review.round}</span>}
                <Time at={review.created_at} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      <Delivered key={current.id} id={current.id} onDecided={() => setChosen(reviews[at + 1]?.id ?? null)} />
    </div>
  )
}

function Delivered({ id, onDecided }: { id: string; onDecided: () => void }) {
  const review = useQuery(reviewQuery(id))
  return (
    <div className="min-h-0 min-w-0 flex-1 overflow-y-auto">
      <Loaded query={review}>
        {(data) => (
          <article className="mx-auto max-w-3xl space-y-5 px-4 py-5 sm:px-6">
            <header className="space-y-3">
              <h2 className="text-lg font-semibold wrap-anywhere">
                {data.issue && (
                  <Link to="/issue/$code" params={{ code: data.issue.code }} className="hover:underline">
                    <span className="font-normal text-ink-2">{data.issue.code}</span> {data.issue.title}
                  </Link>
                )}
              </h2>
              <p className="text-ink-2">
                Delivered by{' '}
                <Link to="/agent-session/$sessionId" params={{ sessionId: data.session_id }} className="underline">
                  <bdi>{data.agent.name}</bdi>
                </Link>
              </p>
              <div className="rounded-lg border bg-surface px-3.5 py-2.5 shadow-card">
                <Decision review={data} onDecided={onDecided} />
              </div>
            </header>
            <Parts review={data} />
          </article>
        )}
      </Loaded>
    </div>
  )
}

const Parts = ({ review: { response, links, plan, changes, session_id, issue_changes, comments } }: Shown) => (
  <>
    {response && (
      <Part title="Answer">
        <Markdown text={response} />
      </Part>
    )}
    <Links urls={links} />
    {changes && (
      <Link
        to="/agent-session/$sessionId/changes"
        params={{ sessionId: session_id }}
        className="inline-flex h-7 items-center gap-1.5 rounded border bg-surface px-2 hover:bg-hover"
      >
        <FileDiff size={14} aria-hidden className="shrink-0 text-ink-3" />
        <ChangesSum {...changes} />
      </Link>
    )}
    <Plan plan={plan} open />
    {issue_changes.length > 0 && (
      <Part title="Changes of the issue">
        <ul className="list-disc pl-5 text-ink-2">
          {issue_changes.flatMap(changeWords).map((words) => (
            <li key={words}>{words}</li>
          ))}
        </ul>
      </Part>
    )}
    {comments.length > 0 && (
      <Part title="Comments">
        {comments.map(({ id, text }) => (
          <div key={id} className="border-l-2 pl-3">
            <Markdown text={text} />
          </div>
        ))}
      </Part>
    )}
  </>
)

interface Shown {
  review: ReviewDetail
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="space-y-2">
    <h3 className="font-semibold">{title}</h3>
    {children}
  </section>
)
