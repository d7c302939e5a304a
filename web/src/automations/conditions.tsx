import type { AutomationFilter, AutomationTrigger } from '@baton/protocol'
import { Plus, X } from 'lucide-react'
import { Button, IconButton } from '../ui/button.tsx'
import { Input } from '../ui/field.tsx'
import { none, orNull, usePicker } from '../ui/picker.tsx'
import { sentence } from '../ui/sentence.ts'
import { filterKeys, type Source } from '../webhooks/filter-keys.ts'
import { useOptionsOf } from '../webhooks/filter-text.ts'
import { withoutConditions } from './words.ts'

interface Key {
  label: string
  source: Source
  none?: string
}
const { status, priority, type, project_id, assignee_id, delegate_id, label_ids } = filterKeys.Issue
const keys = { status, priority, type, project_id, assignee_id, delegate_id, label_ids } as Record<string, Key>
const keysOf = (trigger: AutomationTrigger): Record<string, Key> =>
  trigger.type === 'session' ? { ...keys, agent_id: { label: 'Agent', source: 'agents' } } : keys

interface Props {
  trigger: AutomationTrigger
  value: AutomationFilter
  onChange: (value: AutomationFilter) => void
  errors: Record<string, string>
}

/** The conditions after "and". All of them have to hold. */
export function Conditions({ trigger, value, onChange, errors }: Props) {
  const ask = usePicker()
  const optionsOf = useOptionsOf()
  const all = keysOf(trigger)
  const lack = withoutConditions(trigger, value)
  const set = (key: string, next: unknown) => {
    const { [key as keyof AutomationFilter]: _, ...rest } = value
    onChange(next === undefined ? rest : { ...rest, [key]: next })
  }
  const choose = (anchor: Element, key: string) => {
    if (key === 'text') return set('text', '')
    if (key === 'reporter') {
      return ask(anchor, {
        title: 'Created by',
        options: [
          { value: 'human', label: 'A person' },
          { value: 'application', label: 'An agent' },
        ],
        onPick: (picked) => set('reporter', picked),
      })
    }
    const { label, source, none: noneLabel } = all[key] as Key
    // The menu stays open, so each pick continues from the one before.
    let chosen = (value[key as keyof AutomationFilter] ?? []) as (string | null)[]
    return ask(anchor, {
      title: label,
      multiple: true,
      options: [...(noneLabel ? [{ value: none, label: noneLabel }] : []), ...optionsOf(source)],
      selected: chosen.map((one) => one ?? none),
      onPick: (picked) => {
        const one = orNull(picked)
        chosen = chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one]
        set(key, chosen.length > 0 ? chosen : undefined)
      },
    })
  }
  const wordsOf = (key: string) => {
    const held = value[key as keyof AutomationFilter]
    if (key === 'reporter') return held === 'human' ? 'a person' : 'an agent'
    const names = new Map(optionsOf(all[key]?.source ?? []).map((option) => [option.value, option.label]))
    return (held as (string | null)[])
      .map((one) => (one === null ? (all[key]?.none ?? 'none') : (names.get(one) ?? one)))
      .join(' or ')
  }
  const labels: Record<string, string> = {
    ...Object.fromEntries(Object.entries(all).map(([key, { label }]) => [key, label])),
    reporter: 'Created by',
    text: 'Title contains',
  }
  const unused = Object.keys(labels).filter((key) => !(key in value))
  return (
    <div className="space-y-1.5">
      {Object.keys(value).map((key) => (
        <div key={key}>
          <div className="flex items-center gap-1">
            {key === 'text' ? (
              <>
                <span className="shrink-0 text-ink-2">Title contains</span>
                <Input
                  aria-label="Title contains"
                  className="w-56"
                  value={value.text ?? ''}
                  onChange={({ target }) => set('text', target.value)}
                />
              </>
            ) : (
              <Button size="sm" onClick={({ currentTarget }) => choose(currentTarget, key)}>
                <span className="text-ink-3">{labels[key]}:</span>
                <span className="max-w-56 truncate">{wordsOf(key)}</span>
              </Button>
            )}
            <IconButton label={`Remove the condition ${labels[key]}`} icon={X} onClick={() => set(key, undefined)} />
          </div>
          {errors[`filter.${key}`] && (
            <p role="alert" className="text-xs text-bad-ink">
              {sentence(errors[`filter.${key}`])}
            </p>
          )}
        </div>
      ))}
      <Button
        size="sm"
        look="quiet"
        icon={Plus}
        onClick={({ currentTarget }) =>
          ask(currentTarget, {
            title: 'Add a condition',
            options: unused.map((key) => ({ value: key, label: labels[key] as string })),
            onPick: (key) => choose(currentTarget, key),
          })
        }
      >
        Add condition
      </Button>
      {lack && (
        <p role="status" className="text-xs text-warn-ink">
          {lack}
        </p>
      )}
    </div>
  )
}
