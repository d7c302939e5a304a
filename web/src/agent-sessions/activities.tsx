import type { AgentActivity, AgentSession } from '@baton/protocol'
import { ArrowDown } from 'lucide-react'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { cx } from '../ui/class-names.ts'
import { Activity } from './activity.tsx'
import { conversationOf, isReplaced } from './conversation.ts'

/** Long sessions render only the latest entries; a button shows more. */
const shownAtFirst = 150
const nearEndPx = 48

/** The activities of a session. Scrolls along with new ones while the end is visible; otherwise shows a button. */
export function Activities(props: { session: AgentSession; activities: AgentActivity[]; className?: string }) {
  const { session, activities, className } = props
  const [showAll, setShowAll] = useState(false)
  const [from, setFrom] = useState<number | null>(null)
  const replaced = useMemo(() => activities.filter(isReplaced).length, [activities])
  const entries = useMemo(
    () => conversationOf(session, showAll ? activities : activities.filter((activity) => !isReplaced(activity))),
    [session, activities, showAll],
  )
  // The first entry shown stays fixed, so that nothing disappears above the reader's position.
  const seqBack = (count: number) => entries.at(-count)?.activity.seq ?? 0
  const begin = from ?? seqBack(shownAtFirst)
  const shown = entries.filter(({ activity }) => activity.seq >= begin)
  const earlier = entries.length - shown.length
  const { scroller, content, missed, follows, toEnd, keepPlace } = useAutoScroll(activities.at(-1)?.seq ?? 0)
  useEffect(() => {
    if (from === null) setFrom(begin)
    else if (follows.current && shown.length > 3 * shownAtFirst) setFrom(entries.at(-shownAtFirst)?.activity.seq ?? 0)
  }, [from, begin, entries, shown.length, follows])
  return (
    <div className={cx('relative flex min-h-0 flex-col', className)}>
      <section
        ref={scroller}
        aria-label="Session activity"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
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
                  {showAll ? 'Hide replaced' : `Show all (${replaced})`}
                </button>
              )}
            </div>
          )}
          {shown.map((entry) => (
            <Activity key={entry.activity.id} entry={entry} />
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

/** Keeps scrolling to the end while the reader is there, and stays put once they scroll up. */
function useAutoScroll(last: number) {
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
    const measure = () => {
      follows.current = box.scrollHeight - box.scrollTop - box.clientHeight < nearEndPx
      if (follows.current) setMissed(false)
    }
    const resized = () => {
      if (fromBottom.current !== null) {
        box.scrollTop = box.scrollHeight - fromBottom.current
        fromBottom.current = null
      } else if (follows.current) box.scrollTop = box.scrollHeight
      measure()
    }
    // Expanding an entry stops the scrolling, so that it can be read in place.
    const opened = (event: Event) => {
      if (event.target instanceof Element && event.target.closest('[aria-expanded], [aria-pressed]')) {
        follows.current = false
      }
    }
    const observer = new ResizeObserver(resized)
    observer.observe(inner)
    observer.observe(box)
    box.addEventListener('scroll', measure, { passive: true })
    box.addEventListener('click', opened, { capture: true })
    return () => {
      observer.disconnect()
      box.removeEventListener('scroll', measure)
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
