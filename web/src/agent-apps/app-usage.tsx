import type { AgentApp, AppBudget, AppUsage } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { usageQuery } from '../data/agent-apps.ts'
import { api, rereadKey } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { amountOf, costText, microsOf } from '../ui/amounts.ts'
import { Button } from '../ui/button.tsx'
import { Field, Input } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Notice } from '../ui/states.tsx'
import { showToast } from '../ui/toast.tsx'

/** What the app's sessions used, by month, and the budget that limits it. */
export function AppUsageSection({ app }: { app: AgentApp }) {
  const { isManager } = useMe()
  const usage = useQuery(usageQuery(app.id))
  const [editing, setEditing] = useState(false)
  return (
    <Section
      title="Usage and budget"
      hint="Reported by the agent. Baton measures nothing itself."
      actions={isManager && !editing && usage.data && <Button onClick={() => setEditing(true)}>Edit budget</Button>}
    >
      <Loaded query={usage}>
        {(data) => (
          <>
            {data.month_reached && (
              <Notice tone="warn" title="This month’s budget is reached">
                The agent takes no messages and no new work until the budget is raised or the next month begins.
                {!isManager && ' Owners and admins can raise it.'}
              </Notice>
            )}
            <Months months={data.data} />
            {editing ? (
              <BudgetForm app={app} budget={data.budget} onClose={() => setEditing(false)} />
            ) : (
              <Budget budget={data.budget} />
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}

const monthName = (month: string) =>
  new Date(`${month}-01T00:00:00Z`).toLocaleDateString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

const cell = 'px-3 py-1.5 font-medium'

function Months({ months }: { months: AppUsage['data'] }) {
  if (months.length === 0) return <p className="text-ink-2">The agent has not reported any usage yet.</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <div className="overflow-x-auto rounded-lg border bg-surface shadow-card" tabIndex={0}>
      <table className="tabular w-full text-right whitespace-nowrap">
        <thead className="border-b text-xs text-ink-2">
          <tr>
            <th scope="col" className={`${cell} text-left`}>
              Month (UTC)
            </th>
            <th scope="col" className={cell}>
              Sessions
            </th>
            <th scope="col" className={cell}>
              Tokens in
            </th>
            <th scope="col" className={cell}>
              Tokens out
            </th>
            <th scope="col" className={cell}>
              Cost
            </th>
          </tr>
        </thead>
        <tbody className="divide-y">
          {months.map(({ month, sessions, input_tokens, output_tokens, costs }) => (
            <tr key={month}>
              <th scope="row" className={`${cell} text-left`}>
                {monthName(month)}
              </th>
              <td className={cell}>{sessions.toLocaleString('en')}</td>
              <td className={cell}>{input_tokens.toLocaleString('en')}</td>
              <td className={cell}>{output_tokens.toLocaleString('en')}</td>
              <td className={cell}>
                {costs.length === 0
                  ? 'not reported'
                  : costs.map(({ currency, cost_micros }) => costText(cost_micros, currency)).join(', ')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Budget({ budget }: { budget: AppBudget | null }) {
  const currency = budget?.currency ?? ''
  const limit = (cost: number | null | undefined, tokens: number | null | undefined) =>
    [
      cost !== null && cost !== undefined && costText(cost, currency),
      tokens !== null && tokens !== undefined && `${tokens.toLocaleString('en')} tokens`,
    ]
      .filter(Boolean)
      .join(' and ') || 'no limit'
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 [&>dt]:text-ink-3">
      <dt>Budget per session</dt>
      <dd>{limit(budget?.session_cost_micros, budget?.session_tokens)}</dd>
      <dt>Budget per month</dt>
      <dd>{limit(budget?.month_cost_micros, budget?.month_tokens)}</dd>
    </dl>
  )
}

const fields = ['currency', 'session_cost_micros', 'month_cost_micros', 'session_tokens', 'month_tokens'] as const
type FieldName = (typeof fields)[number]

const typedText = (budget: AppBudget | null, field: FieldName): string => {
  const value = budget?.[field] ?? null
  if (value === null) return ''
  return typeof value === 'number' && field.endsWith('micros') ? amountOf(value) : String(value)
}

/** Sets the whole budget; an empty field is no limit. */
function BudgetForm(props: { app: AgentApp; budget: AppBudget | null; onClose: () => void }) {
  const { app, budget, onClose } = props
  const [typed, setTyped] = useState(
    () => Object.fromEntries(fields.map((field) => [field, typedText(budget, field)])) as Record<FieldName, string>,
  )
  const read = (field: FieldName) => {
    const text = typed[field].trim()
    if (text === '' || field === 'currency') return text || null
    if (field.endsWith('micros')) return microsOf(text) ?? 'must be an amount such as 20 or 4.50'
    return /^\d{1,15}$/.test(text) ? Number(text) : 'must be a whole number'
  }
  const wrong = (field: FieldName) => {
    const value = read(field)
    return typeof value === 'string' && field !== 'currency' ? value : undefined
  }
  const form = useForm(async () => {
    if (fields.some(wrong)) return
    const values = Object.fromEntries(fields.map((field) => [field, read(field)])) as unknown as AppBudget
    await api.setAppBudget({ app_id: app.id, ...values })
    await rereadKey('agent-apps', app.id)
    onClose()
    showToast('Budget saved')
  }, fields)
  const field = (name: FieldName, label: string, hint?: string) => {
    const error = wrong(name) ?? form.errors[name]
    return (
      <Field label={label} optional={name !== 'currency'} hint={hint} error={error && `${label} ${error}.`}>
        <Input
          value={typed[name]}
          inputMode={name === 'currency' ? 'text' : 'decimal'}
          maxLength={name === 'currency' ? limits.currency : 20}
          autoComplete="off"
          onChange={({ target }) => setTyped({ ...typed, [name]: target.value })}
        />
      </Field>
    )
  }
  return (
    <form onSubmit={form.submit} className="space-y-4" aria-label="Budget">
      <div className="grid gap-4 sm:grid-cols-2">
        {field('session_cost_micros', 'Cost per session')}
        {field('month_cost_micros', 'Cost per month')}
        {field('session_tokens', 'Tokens per session', 'Input plus output.')}
        {field('month_tokens', 'Tokens per month', 'Input plus output.')}
        {field('currency', 'Currency', 'As the agent reports it, such as USD. Costs in other currencies do not count.')}
      </div>
      {form.problem && (
        <p role="alert" className="text-bad-ink">
          {form.problem}
        </p>
      )}
      <div className="flex gap-2">
        <Button type="submit" look="primary" busy={form.busy}>
          Save budget
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  )
}
