import type { Account } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { useQuery } from '@tanstack/react-query'
import { ChevronDown } from 'lucide-react'
import { useRef, useState } from 'react'
import { accountQuery } from '../data/account.ts'
import { api, queries } from '../data/api.ts'
import { meQuery } from '../data/me.ts'
import { Button } from '../ui/button.tsx'
import { Field, Input } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { usePicker } from '../ui/picker.tsx'
import { sentence } from '../ui/sentence.ts'
import { Notice } from '../ui/states.tsx'
import { showToast } from '../ui/toast.tsx'
import { localZone, zoneOptions } from './time-zones.ts'

export function Profile() {
  const account = useQuery(accountQuery)
  return (
    <Section title="Profile">
      <Loaded query={account} rows={2}>
        {(account) => <ProfileForm account={account} />}
      </Loaded>
    </Section>
  )
}

function ProfileForm({ account }: { account: Account }) {
  const [name, setName] = useState(account.display_name)
  const [zone, setZone] = useState(account.time_zone)
  const local = localZone()
  // Unchanged fields are not sent: a name from before today's rules for names must not stop a new time zone.
  const change = {
    ...(name !== account.display_name && { display_name: name }),
    ...(zone !== account.time_zone && { time_zone: zone }),
  }
  const form = useForm(async () => {
    const saved = await api.updateAccount(change)
    queries.setQueryData(accountQuery.queryKey, saved)
    setName(saved.display_name)
    setZone(saved.time_zone)
    await queries.invalidateQueries({ queryKey: meQuery.queryKey })
    await queries.invalidateQueries({ queryKey: ['workspace'] })
    showToast('Profile saved')
  }, ['display_name', 'time_zone'])
  return (
    <form onSubmit={form.submit} className="max-w-sm space-y-3">
      <Field label="Name" error={sentence(form.errors.display_name)}>
        <Input
          autoComplete="name"
          required
          maxLength={limits.name}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <ZoneField zone={zone} onChange={setZone} error={sentence(form.errors.time_zone)} />
      {local !== zone && (
        <p className="text-xs text-ink-2">
          This browser is in {local}.{' '}
          <button type="button" className="text-accent-ink underline underline-offset-2" onClick={() => setZone(local)}>
            Use {local}
          </button>
        </p>
      )}
      {form.problem && <Notice tone="bad">{form.problem}</Notice>}
      <Button type="submit" busy={form.busy} disabled={Object.keys(change).length === 0}>
        Save
      </Button>
    </form>
  )
}

function ZoneField({
  zone,
  onChange,
  error,
}: {
  zone: string
  onChange: (zone: string) => void
  error?: string | undefined
}) {
  const pick = usePicker()
  const button = useRef<HTMLButtonElement>(null)
  return (
    <div className="space-y-1">
      <p id="time-zone-label" className="font-medium">
        Time zone
      </p>
      <button
        ref={button}
        id="time-zone"
        type="button"
        aria-haspopup="listbox"
        aria-labelledby="time-zone-label time-zone"
        aria-describedby="time-zone-hint"
        className="flex h-8 w-full items-center justify-between rounded border border-line-strong bg-surface px-2.5 text-left focus:border-accent focus:outline-1 focus:outline-accent"
        onClick={() =>
          pick(button.current, { title: 'Time zone', options: zoneOptions(), selected: [zone], onPick: onChange })
        }
      >
        {zone.replaceAll('_', ' ')}
        <ChevronDown size={14} aria-hidden className="text-ink-3" />
      </button>
      <p id="time-zone-hint" className={error ? 'text-xs text-bad-ink' : 'text-xs text-ink-3'}>
        {error ??
          'The built-in agent reports your issues as overdue when the due day has ended in this zone. Screens use the zone of your device.'}
      </p>
    </div>
  )
}
