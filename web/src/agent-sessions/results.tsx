import type { AgentSession, ChangesSummary, SessionUsage } from '@baton/protocol'
import { Link } from '@tanstack/react-router'
import { FileDiff } from 'lucide-react'
import { costText, counted } from '../ui/amounts.ts'
import { isolated } from '../ui/isolated.ts'

/** The sum of the session's changes, as a link to them, and what the agent used. */
export function Results({ session }: { session: AgentSession }) {
  const { id, changes, usage } = session
  const used = usage && usageText(usage)
  if (!changes && !used) return null
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      {changes && (
        <Link
          to="/agent-session/$sessionId/changes"
          params={{ sessionId: id }}
          className="flex h-7 items-center gap-1.5 rounded border bg-surface px-2 hover:bg-hover"
        >
          <FileDiff size={14} aria-hidden className="shrink-0 text-ink-3" />
          <ChangesSum {...changes} />
        </Link>
      )}
      {used && (
        <p className="min-w-0 text-xs wrap-anywhere text-ink-2">
          {used} <span className="text-ink-3">reported by the agent</span>
        </p>
      )}
    </div>
  )
}

/** "4 files +31 -7" */
export const ChangesSum = (sum: Pick<ChangesSummary, 'files_total' | 'additions' | 'deletions'>) => (
  <span className="tabular">
    <span className="font-medium">{counted(sum.files_total, 'file')}</span>{' '}
    <span className="text-ok-ink">+{sum.additions.toLocaleString('en')}</span>{' '}
    <span className="text-bad-ink">-{sum.deletions.toLocaleString('en')}</span>
  </span>
)

/** "gpt-x · 1,200 tokens in, 80 out · 0.42 USD"; empty if the agent reported no number. */
function usageText({ model, input_tokens, output_tokens, cost_micros, currency }: SessionUsage): string {
  const tokens = [
    input_tokens !== null && `${counted(input_tokens, 'token')} in`,
    output_tokens !== null &&
      `${input_tokens === null ? counted(output_tokens, 'token') : output_tokens.toLocaleString('en')} out`,
  ]
  const amounts = [
    tokens.filter(Boolean).join(', '),
    cost_micros !== null && currency !== null && costText(cost_micros, currency),
  ].filter(Boolean)
  return amounts.length === 0 ? '' : [model && isolated(model), ...amounts].filter(Boolean).join(' · ')
}
