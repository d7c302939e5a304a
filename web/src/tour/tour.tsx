import { useQuery } from '@tanstack/react-query'
import { Link, useRouterState } from '@tanstack/react-router'
import { CircleCheck, CircleDashed, CircleMinus, X } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { createPortal } from 'react-dom'
import { sessionsQuery } from '../data/agent-sessions.ts'
import { useMe } from '../data/me.ts'
import { useReviews } from '../data/reviews.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { cx } from '../ui/class-names.ts'
import { Kbd } from '../ui/kbd.tsx'
import { isTyping, useCommands } from '../ui/shortcuts.ts'
import { useStore } from '../ui/store.ts'
import { atWork, deedsOf, questionFor, type Seen } from './deeds.ts'
import { endTour, finishStep, type StepId, stepIds, tour } from './state.ts'

/** A strip below the screen, which it makes smaller and never covers. */
export default function Tour() {
  const main = document.getElementById('main')
  return main && createPortal(<Strip />, main)
}

function useSeen(): Seen {
  const { user } = useMe()
  const { startedAt } = useStore(tour)
  const sessions = useQuery(sessionsQuery).data ?? []
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const isBoard = useRouterState({
    select: ({ location }) => (location.search as { layout?: string }).layout === 'board',
  })
  const waiting = useReviews().data?.map(({ id }) => id)
  return { userId: user.id, startedAt, path, isBoard, sessions, waiting }
}

function useTicks(seen: Seen) {
  const asked = useRef(new Set<string>())
  const question = questionFor(seen)
  if (question) asked.current.add(question.id)
  for (const id of seen.waiting ?? []) asked.current.add(id)
  const deeds = deedsOf(seen, asked.current).join(' ')
  useEffect(() => {
    for (const id of deeds.split(' ').filter(Boolean)) finishStep(id as StepId, 'deed')
  }, [deeds])
}

/** Before the commands of the screen that have the same key, but not in text fields, menus and dialogs. */
function useEscape(run: () => void) {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const { target, key } = event
      const isElsewhere = isTyping(target) || (target instanceof Element && target.closest('dialog') !== null)
      if (key !== 'Escape' || event.defaultPrevented || event.isComposing || isElsewhere) return
      event.preventDefault()
      run()
    }
    addEventListener('keydown', pressed, true)
    return () => removeEventListener('keydown', pressed, true)
  }, [run])
}

function Strip() {
  const seen = useSeen()
  useTicks(seen)
  const { over, done } = useStore(tour)
  const current = stepIds.find((id) => !over.includes(id))
  useEscape(endTour)
  useCommands([
    { id: 'tour.end', title: 'End the tour', section: 'Help', keys: 'escape', run: endTour },
    ...(current
      ? [
          {
            id: 'tour.skip',
            title: 'Skip this step of the tour',
            section: 'Help' as const,
            run: () => finishStep(current, 'skip'),
          },
        ]
      : []),
  ])
  return (
    <section ref={keepMessagesAbove} aria-label="Tour" className="shrink-0 border-t bg-surface px-4 py-2">
      <div className="flex items-center gap-2">
        <h2 className="font-semibold">Tour</h2>
        <span className="tabular flex-1 text-xs text-ink-3" role="status">
          {current ? `Step ${stepIds.indexOf(current) + 1} of ${stepIds.length}` : 'All steps done'}
        </span>
        {current && (
          <Button look="quiet" size="sm" onClick={() => finishStep(current, 'skip')}>
            Skip step
          </Button>
        )}
        <IconButton label="End the tour" icon={X} command="tour.end" onClick={endTour} />
      </div>
      <ol className="grid gap-1 md:grid-cols-5">
        {stepIds.map((id) => (
          <li
            key={id}
            aria-current={id === current ? 'step' : undefined}
            className={cx('flex gap-2 rounded px-1.5 py-1', id === current ? 'bg-hover' : 'max-md:hidden')}
          >
            <Mark isDone={done.includes(id)} isSkipped={over.includes(id)} />
            <span className="min-w-0">
              <span className="font-medium">{steps[id].title(seen)}</span>
              <span className="block text-xs text-ink-2">{steps[id].hint}</span>
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}

/** Messages at the lower edge of the screen would cover the next step. */
function keepMessagesAbove(strip: HTMLElement | null) {
  if (!strip) return
  const root = document.documentElement.style
  const observer = new ResizeObserver(() => root.setProperty('--above-tour', `${strip.offsetHeight}px`))
  observer.observe(strip)
  return () => {
    observer.disconnect()
    root.removeProperty('--above-tour')
  }
}

function Mark({ isDone, isSkipped }: { isDone: boolean; isSkipped: boolean }) {
  const look = { size: 16, className: cx('mt-0.5 shrink-0', isDone ? 'text-ok' : 'text-ink-3') }
  if (isDone) return <CircleCheck {...look} aria-label="Done:" />
  return isSkipped ? <CircleMinus {...look} aria-label="Skipped:" /> : <CircleDashed {...look} aria-label="To do:" />
}

const linkClass = 'underline decoration-line-strong underline-offset-2 hover:decoration-current'

const sessionLink = (id: string | undefined, text: string) =>
  id === undefined ? (
    text
  ) : (
    <Link to="/agent-session/$sessionId" params={{ sessionId: id }} className={linkClass}>
      {text}
    </Link>
  )

const steps: Record<StepId, { title: (seen: Seen) => ReactNode; hint: ReactNode }> = {
  board: {
    title: () => (
      <Link to="/issues" search={{ layout: 'board' }} className={linkClass}>
        Open the board
      </Link>
    ),
    hint: 'Each card shows what its agent does.',
  },
  answer: {
    title: (seen) => sessionLink(questionFor(seen)?.id, 'Answer a question'),
    hint: 'Scout continues with your choice.',
  },
  stop: {
    title: (seen) => sessionLink(atWork(seen)?.id, 'Watch Scout, then stop it'),
    hint: 'Stop ends its work at once.',
  },
  review: {
    title: () => (
      <Link to="/reviews" className={linkClass}>
        Review its work
      </Link>
    ),
    hint: 'Accept it, or send it back with a reason.',
  },
  delegate: {
    title: () => (
      <Link to="/issues" className={linkClass}>
        Delegate an issue
      </Link>
    ),
    hint: (
      <>
        Select one, press <Kbd keys="d" />
        <span className="sr-only">D</span> and choose Scout.
      </>
    ),
  },
}
