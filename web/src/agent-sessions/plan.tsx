import type { PlanItem } from '@baton/protocol'
import { ChevronRight, Circle, CircleCheck, CircleDotDashed, CircleX, type LucideIcon } from 'lucide-react'
import { useState } from 'react'
import { cx } from '../ui/class-names.ts'

const looks: Record<PlanItem['status'], { icon: LucideIcon; word: string; color: string; bar: string }> = {
  pending: { icon: Circle, word: 'To do', color: 'text-ink-3', bar: 'bg-line-strong' },
  inProgress: { icon: CircleDotDashed, word: 'In progress', color: 'text-agent-ink', bar: 'bg-agent' },
  completed: { icon: CircleCheck, word: 'Done', color: 'text-ok-ink', bar: 'bg-ok' },
  canceled: { icon: CircleX, word: 'Canceled', color: 'text-ink-3', bar: 'bg-line' },
}

/** Longer plans are collapsed around the current step. */
const shownWhenCollapsed = 7

export const progressOf = (plan: PlanItem[]) => ({
  done: plan.filter(({ status }) => status === 'completed').length,
  total: plan.filter(({ status }) => status !== 'canceled').length,
})

const currentOf = (plan: PlanItem[]) =>
  plan.find(({ status }) => status === 'inProgress') ?? plan.find(({ status }) => status === 'pending')

/** The agent's plan: progress and current step, or all steps when expanded. */
export function Plan({ plan, open: openAtFirst = false }: { plan: PlanItem[]; open?: boolean }) {
  const [open, setOpen] = useState(openAtFirst)
  if (plan.length === 0) return null
  const { done, total } = progressOf(plan)
  const current = currentOf(plan)
  return (
    <section aria-label="Plan">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex h-8 w-full items-center gap-2 rounded px-1 text-left hover:bg-hover"
      >
        <ChevronRight size={14} aria-hidden className={cx('shrink-0 text-ink-3', open && 'rotate-90')} />
        <span className="font-medium">Plan</span>
        <span className="tabular shrink-0 text-ink-2">
          {done} of {total}
        </span>
        <Bar plan={plan} />
        {!open && current && <span className="min-w-0 flex-1 truncate text-ink-2">{current.content}</span>}
      </button>
      {open && <Steps plan={plan} />}
    </section>
  )
}

const Bar = ({ plan }: { plan: PlanItem[] }) => (
  <span aria-hidden className="flex h-1.5 w-24 shrink-0 gap-px overflow-hidden rounded-full max-sm:w-16">
    {plan.map(({ status }, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: steps have no id
      <span key={index} className={cx('min-w-px flex-1', looks[status].bar)} />
    ))}
  </span>
)

function Steps({ plan }: { plan: PlanItem[] }) {
  const [all, setAll] = useState(false)
  const current = currentOf(plan)
  const at = current ? plan.indexOf(current) : plan.length
  const long = plan.length > shownWhenCollapsed + 1
  const from = all || !long ? 0 : Math.max(0, Math.min(at - 2, plan.length - shownWhenCollapsed))
  const shown = all || !long ? plan : plan.slice(from, from + shownWhenCollapsed)
  return (
    <div className="max-h-72 overflow-y-auto pb-1 pl-6">
      <ol start={from + 1}>
        {shown.map(({ content, status }, index) => {
          const { icon: Icon, word, color } = looks[status]
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: steps have no id
            <li key={from + index} className="flex gap-2 py-0.5">
              <Icon
                size={15}
                aria-hidden
                className={cx('mt-[2.5px] shrink-0', color, status === 'inProgress' && 'animate-pulse')}
              />
              <span className="sr-only">{word}: </span>
              <span
                className={cx(
                  'min-w-0 wrap-anywhere',
                  status === 'canceled' && 'text-ink-3 line-through',
                  status === 'completed' && 'text-ink-2',
                  status === 'inProgress' && 'font-medium',
                )}
              >
                {content}
              </span>
            </li>
          )
        })}
      </ol>
      {long && (
        <button type="button" onClick={() => setAll(!all)} className="mt-0.5 rounded px-1 text-xs text-ink-2 underline">
          {all ? 'Show fewer steps' : `Show all ${plan.length} steps`}
        </button>
      )}
    </div>
  )
}
