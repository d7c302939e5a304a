import type { InboxKind, NotificationSettings, NotificationWay } from '@baton/protocol'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { accountQuery } from '../data/account.ts'
import { api, queries } from '../data/api.ts'
import { instanceQuery } from '../data/instance.ts'
import { useMe } from '../data/me.ts'
import { Button } from '../ui/button.tsx'
import { useDraft } from '../ui/draft.ts'
import { Checkbox, Field, Select } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { Page, Rows, Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { EditConflict, Notice } from '../ui/states.tsx'
import { showToast } from '../ui/toast.tsx'
import { kindLabels, wayLabels } from './notification-words.ts'

const settingsQuery = queryOptions({
  queryKey: ['notification-settings'],
  queryFn: () => api.getNotificationSettings(),
})

/** Which notifications are mailed to the user, in this workspace. */
export function NotificationsScreen() {
  const settings = useQuery(settingsQuery)
  return (
    <Page title="Notifications" width="reading">
      <p className="text-ink-2">
        Everything appears in your inbox. Choose what is also mailed to you. While you use Baton, mails wait.
      </p>
      <MailNotice />
      <Loaded query={settings}>{(settings) => <SettingsForm settings={settings} />}</Loaded>
    </Page>
  )
}

/** Why nothing is mailed, if so. */
function MailNotice() {
  const { data: instance } = useQuery(instanceQuery)
  const { data: account } = useQuery(accountQuery)
  if (instance && !instance.mail) {
    return <Notice>This instance sends no mail. Your choices apply when its operator configures it.</Notice>
  }
  if (!account || (account.email_verified && !account.mail_problem)) return null
  return (
    <Notice
      tone="warn"
      title={account.mail_problem ? `Mail to ${account.email} is refused` : `Verify ${account.email}`}
      actions={
        <Link to="/settings/account" className="font-medium text-accent-ink underline underline-offset-2">
          Open account
        </Link>
      }
    >
      You get no notifications by mail until the address is verified.
    </Notice>
  )
}

function SettingsForm({ settings }: { settings: NotificationSettings }) {
  const { workspace, isManager } = useMe()
  const { data: account } = useQuery(accountQuery)
  const { draft, change, isEdited, isOutdated, reset } = useDraft(settings)
  const form = useForm(async () => {
    queries.setQueryData(settingsQuery.queryKey, await api.setNotificationSettings(draft))
    showToast('Saved')
  })
  const kinds = (Object.keys(kindLabels) as InboxKind[]).filter((kind) => isManager || !kindLabels[kind].forManagers)
  return (
    <form onSubmit={form.submit} className="space-y-6">
      <Section
        title="By mail"
        hint={
          <>
            For <bdi>{workspace?.name}</bdi>. Immediate mails collect what happens within two minutes.
          </>
        }
      >
        <Rows label="Kinds of notification">
          {kinds.map((kind) => (
            <li key={kind} className="flex items-center gap-3 px-4 py-2">
              <label htmlFor={`way-${kind}`} className="min-w-0 flex-1">
                {kindLabels[kind].label}
              </label>
              <Select
                id={`way-${kind}`}
                className="w-36"
                value={draft.kinds[kind]}
                onChange={({ target }) =>
                  change({ kinds: { ...draft.kinds, [kind]: target.value as NotificationWay } })
                }
              >
                {Object.entries(wayLabels).map(([way, label]) => (
                  <option key={way} value={way}>
                    {label}
                  </option>
                ))}
              </Select>
            </li>
          ))}
        </Rows>
      </Section>
      <Field
        label="Time of the daily summary"
        hint={
          <>
            In your time zone, {account?.time_zone.replaceAll('_', ' ') ?? 'UTC'}. Change it under{' '}
            <Link to="/settings/account" className="underline underline-offset-2">
              Account
            </Link>
            .
          </>
        }
        className="max-w-sm"
      >
        <Select
          className="w-28"
          value={draft.digest_hour}
          onChange={({ target }) => change({ digest_hour: Number(target.value) })}
        >
          {Array.from({ length: 24 }, (_, hour) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the hours of a day
            <option key={hour} value={hour}>
              {String(hour).padStart(2, '0')}:00
            </option>
          ))}
        </Select>
      </Field>
      <Checkbox
        label="Pause all mails"
        hint="Nothing that happens meanwhile is mailed later. Mails about your account are still sent."
        checked={draft.paused}
        onChange={({ target }) => change({ paused: target.checked })}
      />
      {isOutdated && <EditConflict what="your settings" onReset={reset} />}
      {form.problem && <Notice tone="bad">{form.problem}</Notice>}
      <Button type="submit" look="primary" busy={form.busy} disabled={!isEdited}>
        Save
      </Button>
    </form>
  )
}
