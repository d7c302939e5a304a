import type { AutomationTrigger } from '@baton/protocol'
import { useMemo, useState } from 'react'
import { Checkbox, Field, Input, Select } from '../ui/field.tsx'
import { sentence } from '../ui/sentence.ts'
import { cronOf, type Repeat, repeats, type Simple, simpleOf, weekdays } from './schedule.ts'
import { outcomeWords } from './words.ts'

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
      {value.type === 'schedule' && <ScheduleFields value={value} onChange={onChange} errors={errors} />}
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

type Schedule = Extract<AutomationTrigger, { type: 'schedule' }>

/** A time of day on certain days, or anything else by cron. */
function ScheduleFields({ value, onChange, errors }: Props & { value: Schedule }) {
  const zones = useMemo(() => [...new Set(['UTC', localZone(), ...Intl.supportedValuesOf('timeZone')])], [])
  const read = simpleOf(value.cron)
  const [isCustom, setCustom] = useState(read === null)
  const simple: Simple = read ?? { repeat: 'day', time: '09:00', weekday: 1 }
  const set = (change: Partial<Simple>) => onChange({ ...value, cron: cronOf({ ...simple, ...change }) })
  const error = sentence(errors['trigger.cron'])
  return (
    <div className="flex flex-wrap gap-3">
      <Field label="Schedule" className="w-52 max-w-full">
        <Select
          value={isCustom ? 'custom' : simple.repeat}
          onChange={({ target }) => {
            setCustom(target.value === 'custom')
            if (target.value !== 'custom') set({ repeat: target.value as Repeat })
          }}
        >
          {Object.entries(repeats).map(([repeat, label]) => (
            <option key={repeat} value={repeat}>
              {label}
            </option>
          ))}
          <option value="custom">Custom</option>
        </Select>
      </Field>
      {isCustom ? (
        <Field label="Cron" hint="Minute, hour, day, month, day of the week." error={error} className="w-64 max-w-full">
          <Input value={value.cron} onChange={({ target }) => onChange({ ...value, cron: target.value })} />
        </Field>
      ) : (
        <>
          {simple.repeat === 'week' && (
            <Field label="Day">
              <Select
                className="w-32"
                value={simple.weekday}
                onChange={({ target }) => set({ weekday: Number(target.value) })}
              >
                {weekdays.map((name, day) => (
                  <option key={name} value={day}>
                    {name}
                  </option>
                ))}
              </Select>
            </Field>
          )}
          <Field label="Time" error={error}>
            <Input
              type="time"
              className="w-32"
              value={simple.time}
              onChange={({ target }) => target.value && set({ time: target.value.slice(0, 5) })}
            />
          </Field>
        </>
      )}
      <Field label="Time zone" error={sentence(errors['trigger.time_zone'])} className="w-52 max-w-full">
        <Select value={value.time_zone} onChange={({ target }) => onChange({ ...value, time_zone: target.value })}>
          {zones.map((zone) => (
            <option key={zone}>{zone}</option>
          ))}
        </Select>
      </Field>
    </div>
  )
}
