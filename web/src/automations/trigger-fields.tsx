import type { AutomationTrigger } from '@baton/protocol'
import { useMemo } from 'react'
import { Checkbox, Field, Input, Select } from '../ui/field.tsx'
import { sentence } from '../ui/sentence.ts'
import { outcomeWords, presets } from './words.ts'

const kinds = {
  schedule: 'it is time',
  created: 'an issue is created',
  changed: 'an issue changes',
  both: 'an issue is created or changes',
  session: 'an agent session',
}
type Kind = keyof typeof kinds

const kindOf = (trigger: AutomationTrigger): Kind => (trigger.type === 'issue' ? trigger.on : trigger.type)

export const localZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone

const ofKind = (kind: Kind): AutomationTrigger => {
  if (kind === 'schedule') return { type: 'schedule', cron: '0 9 * * 1', time_zone: localZone() }
  if (kind === 'session') return { type: 'session', outcomes: ['finished'] }
  return { type: 'issue', on: kind }
}

interface Props {
  value: AutomationTrigger
  onChange: (value: AutomationTrigger) => void
  errors: Record<string, string>
}

/** What stands after "When". */
export function TriggerFields({ value, onChange, errors }: Props) {
  const zones = useMemo(() => [...new Set(['UTC', localZone(), ...Intl.supportedValuesOf('timeZone')])], [])
  return (
    <div className="space-y-2">
      <Select
        aria-label="When"
        className="w-64 max-w-full"
        value={kindOf(value)}
        onChange={({ target }) => onChange(ofKind(target.value as Kind))}
      >
        {Object.entries(kinds).map(([kind, label]) => (
          <option key={kind} value={kind}>
            {label}
          </option>
        ))}
      </Select>
      {value.type === 'schedule' && (
        <div className="grid gap-3 sm:grid-cols-3">
          <Field label="Schedule">
            <Select
              value={presets.some(({ cron }) => cron === value.cron) ? value.cron : ''}
              onChange={({ target }) => target.value && onChange({ ...value, cron: target.value })}
            >
              {presets.map(({ cron, label }) => (
                <option key={cron} value={cron}>
                  {label}
                </option>
              ))}
              <option value="">Custom</option>
            </Select>
          </Field>
          <Field
            label="Cron"
            hint="Minute, hour, day, month, day of the week."
            error={sentence(errors['trigger.cron'])}
          >
            <Input value={value.cron} onChange={({ target }) => onChange({ ...value, cron: target.value })} />
          </Field>
          <Field label="Time zone" error={sentence(errors['trigger.time_zone'])}>
            <Select value={value.time_zone} onChange={({ target }) => onChange({ ...value, time_zone: target.value })}>
              {zones.map((zone) => (
                <option key={zone}>{zone}</option>
              ))}
            </Select>
          </Field>
        </div>
      )}
      {value.type === 'session' && (
        <fieldset className="flex flex-wrap gap-x-4 gap-y-1">
          <legend className="sr-only">Outcomes</legend>
          {Object.entries(outcomeWords).map(([outcome, label]) => (
            <Checkbox
              key={outcome}
              label={label}
              checked={(value.outcomes as string[]).includes(outcome)}
              onChange={({ target }) =>
                onChange({
                  ...value,
                  outcomes: (Object.keys(outcomeWords) as typeof value.outcomes).filter((one) =>
                    one === outcome ? target.checked : value.outcomes.includes(one),
                  ),
                })
              }
            />
          ))}
          {errors['trigger.outcomes'] && (
            <p role="alert" className="w-full text-xs text-bad-ink">
              {sentence(errors['trigger.outcomes'])}
            </p>
          )}
        </fieldset>
      )}
    </div>
  )
}
