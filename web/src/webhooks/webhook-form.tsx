import type { ResourceType, Webhook } from '@baton/protocol'
import { type ReactNode, useState } from 'react'
import { useTeams } from '../data/workspaces.ts'
import { Button } from '../ui/button.tsx'
import { Checkbox, Field, Input } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { sentence } from '../ui/sentence.ts'
import { Notice } from '../ui/states.tsx'
import { TeamCoverageField } from '../workspaces/team-coverage.tsx'
import { FiltersField } from './filters-field.tsx'

export type WebhookFields = Pick<Webhook, 'label' | 'url' | 'all_teams' | 'team_ids' | 'resource_types' | 'filters'>

export const emptyWebhook: WebhookFields = {
  label: '',
  url: '',
  all_teams: true,
  team_ids: [],
  resource_types: ['Issue', 'Comment', 'Project'],
  filters: null,
}

const types: { type: ResourceType; label: string; hint: string }[] = [
  { type: 'Issue', label: 'Issues', hint: 'created, changed, deleted' },
  { type: 'Comment', label: 'Comments', hint: 'except internal comments' },
  { type: 'Project', label: 'Projects', hint: 'created, changed, deleted' },
]

/** Leaves out the filters of types that are not sent. */
function ofTypes(filters: WebhookFields['filters'], sent: readonly ResourceType[]): WebhookFields['filters'] {
  const kept = Object.entries(filters ?? {}).filter(([type]) => (sent as readonly string[]).includes(type))
  return kept.length > 0 ? Object.fromEntries(kept) : null
}

interface Props {
  initial: WebhookFields
  action: string
  /** May throw field errors, which are shown at the fields. */
  onSubmit: (fields: WebhookFields) => Promise<void>
  children?: ReactNode
}

export function WebhookForm({ initial, action, onSubmit, children }: Props) {
  const teams = useTeams()
  const [fields, setFields] = useState(initial)
  const [edited, setEdited] = useState<Partial<WebhookFields>>({})
  const form = useForm(async () => {
    setEdited({})
    const filters = ofTypes(fields.filters, fields.resource_types)
    await onSubmit({ ...fields, filters, team_ids: fields.all_teams ? [] : fields.team_ids })
  }, ['label', 'url', 'resource_types', 'team_ids', 'filters'])
  // An error disappears when its field is edited.
  const errors: Record<string, string> = Object.fromEntries(
    Object.entries(form.errors).filter(([field]) => !((field.split('.')[0] ?? '') in edited)),
  )
  const change = (next: Partial<WebhookFields>) => {
    setFields({ ...fields, ...next })
    setEdited({ ...edited, ...next })
  }
  return (
    <form className="space-y-4 pb-2" noValidate onSubmit={form.submit}>
      <Field label="Label" hint="Shown in the list of webhooks." error={sentence(errors.label)}>
        <Input value={fields.label} autoComplete="off" onChange={({ target }) => change({ label: target.value })} />
      </Field>
      <Field
        label="URL"
        hint="A public https URL on port 443 or 8443, without user name or password."
        error={sentence(errors.url)}
      >
        <Input
          value={fields.url}
          inputMode="url"
          placeholder="https://"
          onChange={({ target }) => change({ url: target.value })}
        />
      </Field>
      <fieldset className="space-y-1.5">
        <legend className="mb-1 font-medium">Events</legend>
        {types.map(({ type, label, hint }) => (
          <Checkbox
            key={type}
            label={
              <>
                {label} <span className="text-ink-3">{hint}</span>
              </>
            }
            checked={fields.resource_types.includes(type)}
            onChange={({ target }) =>
              change({
                resource_types: types
                  .map((item) => item.type)
                  .filter((item) => (item === type ? target.checked : fields.resource_types.includes(item))),
              })
            }
          />
        ))}
        {errors.resource_types && (
          <p role="alert" className="text-xs text-bad-ink">
            {sentence(errors.resource_types)}
          </p>
        )}
      </fieldset>
      <FiltersField
        types={fields.resource_types}
        value={fields.filters}
        onChange={(filters) => change({ filters })}
        errors={errors}
      />
      <TeamCoverageField
        label="Teams"
        name="webhook-teams"
        teams={teams}
        value={fields}
        onChange={({ all_teams, team_ids }) => change({ all_teams, team_ids })}
        hints={{
          all: 'Including future teams and items without a team',
          selected: 'Only items of these teams',
        }}
        error={sentence(errors.team_ids)}
      />
      {form.problem && (
        <Notice tone="bad" title="Not saved">
          {form.problem}
        </Notice>
      )}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" busy={form.busy}>
          {action}
        </Button>
        {children}
      </div>
    </form>
  )
}
