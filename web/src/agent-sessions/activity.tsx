import '../data/files.ts'
import type { AgentActivity } from '@baton/protocol'
import { Brain, ChevronRight, CircleCheck, CircleX, Hand, type LucideIcon, Wrench } from 'lucide-react'
import { memo, type ReactNode, useState } from 'react'
import { Avatar } from '../ui/avatar.tsx'
import { cx } from '../ui/class-names.ts'
import { Markdown } from '../ui/markdown.tsx'
import { inOneLine } from '../ui/one-line.ts'
import { exactTime, Time } from '../ui/time.tsx'
import { type Entry, isReplaced } from './conversation.ts'
import { Question } from './question.tsx'

/** One activity of a session, rendered by its type. */
export const Activity = memo(function Activity({ entry }: { entry: Entry }) {
  const { activity, answer, open } = entry
  const { content } = activity
  switch (content.type) {
    case 'thought':
      return <Thought activity={activity} body={content.body} />
    case 'action':
      return <Action activity={activity} {...content} />
    case 'elicitation':
      return <Question question={activity} answer={answer} open={open} />
    case 'response':
      return <Outcome activity={activity} body={content.body} icon={CircleCheck} color="text-ok-ink" title="Answer" />
    case 'error':
      return <Failure activity={activity} body={content.body} reason={content.reason_code} />
    case 'prompt':
      return activity.signal === 'stop' ? <StopLine activity={activity} /> : <Message activity={activity} />
  }
})

/** A line that expands. */
function Expandable({
  icon: Icon,
  activity,
  line,
  children,
}: {
  icon: LucideIcon
  activity: AgentActivity
  line: ReactNode
  children: ReactNode
}) {
  const [open, setOpen] = useState(false)
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        title={exactTime(activity.created_at)}
        onClick={() => setOpen(!open)}
        className="group flex min-h-7 w-full min-w-0 items-center gap-2 rounded px-1 text-left hover:bg-hover"
      >
        <Icon size={14} aria-hidden className="shrink-0 text-ink-3" />
        <span className="min-w-0 flex-1 truncate text-ink-2">{line}</span>
        {isReplaced(activity) && <span className="shrink-0 text-2xs text-ink-3">replaced</span>}
        <ChevronRight
          size={13}
          aria-hidden
          className={cx('shrink-0 text-ink-3', open ? 'rotate-90' : 'opacity-40 group-hover:opacity-100')}
        />
      </button>
      {open && <div className="border-l-2 py-1 pl-3 ml-[10px]">{children}</div>}
    </div>
  )
}

const Thought = ({ activity, body }: { activity: AgentActivity; body: string }) => (
  <Expandable icon={Brain} activity={activity} line={inOneLine(body) || 'Thought'}>
    <Markdown text={body} />
  </Expandable>
)

function Action(props: { activity: AgentActivity; action: string; parameter: string; result?: string }) {
  const { activity, action, parameter, result } = props
  const line = (
    <>
      <span className="font-medium text-ink">{action}</span>
      {parameter && (
        <>
          {' · '}
          <span className="font-mono text-xs">{parameter}</span>
        </>
      )}
    </>
  )
  if (!result) {
    return (
      <p title={exactTime(activity.created_at)} className="flex min-h-7 gap-2 px-1 py-1">
        <Wrench size={14} aria-hidden className="mt-[3px] shrink-0 text-ink-3" />
        <span className="line-clamp-3 min-w-0 flex-1 wrap-anywhere text-ink-2">{line}</span>
        {isReplaced(activity) && <span className="shrink-0 text-2xs text-ink-3">replaced</span>}
      </p>
    )
  }
  return (
    <Expandable icon={Wrench} activity={activity} line={line}>
      {parameter.length > 60 && <p className="mb-1 font-mono text-xs wrap-anywhere text-ink-2">{parameter}</p>}
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
        role="region"
        aria-label={`Result of ${action.slice(0, 100)}`}
        className="max-h-80 overflow-auto font-mono text-xs leading-4.5 whitespace-pre-wrap wrap-anywhere"
      >
        {result}
      </pre>
    </Expandable>
  )
}

const Heading = ({ activity, children }: { activity: AgentActivity; children: ReactNode }) => (
  <p className="flex items-center gap-1.5 pb-0.5 text-xs">
    {children}
    <Time at={activity.created_at} className="ml-auto shrink-0 text-ink-3" />
  </p>
)

function Outcome(props: {
  activity: AgentActivity
  body: string
  icon: LucideIcon
  color: string
  title: string
  children?: ReactNode
}) {
  const { activity, body, icon: Icon, color, title, children } = props
  return (
    // An issue can have several sessions with answers, so none of them is a landmark.
    <article aria-label={title} className="px-1 py-2">
      <Heading activity={activity}>
        <Icon size={14} aria-hidden className={color} />
        <span className={cx('font-semibold', color)}>{title}</span>
        {children}
      </Heading>
      <div className="pl-[22px]">
        <Markdown text={body} />
      </div>
    </article>
  )
}

const Failure = ({
  activity,
  body,
  reason,
}: {
  activity: AgentActivity
  body: string
  reason?: string | undefined
}) => (
  <div className="my-1 rounded bg-bad-wash pr-1">
    <Outcome activity={activity} body={body} icon={CircleX} color="text-bad-ink" title="Failed">
      {reason && <code className="rounded-sm border border-bad/30 px-1 font-mono text-2xs text-bad-ink">{reason}</code>}
    </Outcome>
  </div>
)

/** A person's message to the agent. */
const Message = ({ activity }: { activity: AgentActivity }) => (
  <div className="my-1 rounded bg-sunken px-2.5 py-2">
    <Heading activity={activity}>
      <Avatar name={activity.author.name} size={16} />
      <span className="font-semibold text-ink">
        <bdi>{activity.author.name}</bdi>
      </span>
    </Heading>
    <Markdown text={'body' in activity.content ? activity.content.body : ''} />
  </div>
)

const StopLine = ({ activity }: { activity: AgentActivity }) => (
  <p className="flex items-center gap-2 px-1 py-2 text-xs text-ink-2">
    <Hand size={14} aria-hidden className="shrink-0 text-warn-ink" />
    <span>
      <span className="font-medium">
        <bdi>{activity.author.name}</bdi>
      </span>{' '}
      {activity.signal_metadata?.reason === 'undelegated' ? 'removed the delegation' : 'pressed Stop'}
    </span>
    <span aria-hidden className="h-px flex-1 bg-line" />
    <Time at={activity.created_at} className="shrink-0 text-ink-3" />
  </p>
)
