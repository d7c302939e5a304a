import type { AgentActivity, AgentSession } from '@baton/protocol'
import { ArrowDown } from 'lucide-react'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { cx } from '../ui/class-names.ts'
import { conversationOf, isReplaced } from './conversation.ts'
import { Said } from './said.tsx'

/** Of a long session only so much is drawn; the rest is one press away. */
const shownAtFirst = 150
const nearEndPx = 48

/** Everything that was said. Follows what is new while its end is in sight, and says so when it is not. */
export function Activities(props: { session: AgentSession; activities: AgentActivity[]; className?: string }) {
  const { session, activities, className } = props
  const [showAll, setShowAll] = useState(false)
  const [from, setFrom] = useState<number | null>(null)
  const replaced = useMemo(() => activities.filter(isReplaced).length, [activities])
  const entries = useMemo(
    () => conversationOf(session, showAll ? activities : activities.filter((activity) => !isReplaced(activity))),
    [session, activities, showAll],
  )
  // Where it begins stays where it is: nothing goes away above what somebody reads.
  const seqBack = (count: number) => entries.at(-count)?.activity.seq ?? 0
  const begin = from ?? seqBack(shownAtFirst)
  const shown = entries.filter(({ activity }) => activity.seq >= begin)
  const earlier = entries.length - shown.length
  const { scroller, content, missed, follows, toEnd, keepPlace } = useFollowing(activities.at(-1)?.seq ?? 0)
  useEffect(() => {
    if (from === null) setFrom(begin)
    else if (follows.current && shown.length > 3 * shownAtFirst) setFrom(entries.at(-shownAtFirst)?.activity.seq ?? 0)
  }, [from, begin, entries, shown.length, follows])
  return (
    <div className={cx('relative flex min-h-0 flex-col', className)}>
      <section
        ref={scroller}
        aria-label="What was said"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        className="min-h-0 flex-1 overflow-y-auto overscroll-contain rounded-sm"
      >
        <div ref={content} className="pb-2">
          {(replaced > 0 || earlier > 0) && (
            <div className="flex gap-3 px-1 pb-1 text-xs">
              {earlier > 0 && (
                <button
                  type="button"
                  className="rounded text-ink-2 underline underline-offset-2"
                  onClick={() => {
                    keepPlace()
                    setFrom(seqBack(shown.length + 2 * shownAtFirst))
                  }}
                >
                  Show earlier ({earlier})
                </button>
              )}
              {replaced > 0 && (
                <button
                  type="button"
                  aria-pressed={showAll}
                  className="ml-auto rounded text-ink-2 underline underline-offset-2"
                  onClick={() => setShowAll(!showAll)}
                >
                  {showAll ? 'Hide what was replaced' : `Show all (${replaced})`}
                </button>
              )}
            </div>
          )}
          {shown.map((entry) => (
            <Said key={entry.activity.id} entry={entry} />
          ))}
        </div>
      </section>
      {missed && (
        <button
          type="button"
          onClick={toEnd}
          className="absolute bottom-2 left-1/2 inline-flex h-7 -translate-x-1/2 items-center gap-1.5 rounded-full bg-ink px-3 text-xs font-medium text-on-ink shadow-pop"
        >
          New activity
          <ArrowDown size={13} aria-hidden />
        </button>
      )}
    </div>
  )
}

/** Keeps the end in sight for whoever looks at it, and leaves alone who reads further up. */
function useFollowing(last: number) {
  const scroller = useRef<HTMLElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const follows = useRef(true)
  const fromBottom = useRef<number | null>(null)
  const [missed, setMissed] = useState(false)

  const toEnd = () => {
    const box = scroller.current
    if (box) box.scrollTop = box.scrollHeight
  }
  useEffect(() => {
    const box = scroller.current
    const inner = content.current
    if (!box || !inner) return
    const look = () => {
      follows.current = box.scrollHeight - box.scrollTop - box.clientHeight < nearEndPx
      if (follows.current) setMissed(false)
    }
    const grown = () => {
      if (fromBottom.current !== null) {
        box.scrollTop = box.scrollHeight - fromBottom.current
        fromBottom.current = null
      } else if (follows.current) box.scrollTop = box.scrollHeight
      look()
    }
    // Whoever opens something wants to read it where it is.
    const opened = (event: Event) => {
      if (event.target instanceof Element && event.target.closest('[aria-expanded], [aria-pressed]')) {
        follows.current = false
      }
    }
    const observer = new ResizeObserver(grown)
    observer.observe(inner)
    observer.observe(box)
    box.addEventListener('scroll', look, { passive: true })
    box.addEventListener('click', opened, { capture: true })
    return () => {
      observer.disconnect()
      box.removeEventListener('scroll', look)
      box.removeEventListener('click', opened, { capture: true })
    }
  }, [])
  const known = useRef(last)
  useLayoutEffect(() => {
    if (last > known.current && !follows.current) setMissed(true)
    known.current = last
  }, [last])
  const keepPlace = () => {
    const box = scroller.current
    if (box) fromBottom.current = box.scrollHeight - box.scrollTop
    follows.current = false
  }
  return { scroller, content, missed, follows, toEnd, keepPlace }
}
