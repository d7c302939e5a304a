import type { GitKind } from '@baton/protocol'
import { type ReactNode, useState } from 'react'
import { useTeams } from '../data/workspaces.ts'
import { Button } from '../ui/button.tsx'
import { Field, Input, Select, Textarea } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { sentence } from '../ui/sentence.ts'
import { Notice } from '../ui/states.tsx'
import { TeamCoverageField } from '../workspaces/team-coverage.tsx'
import { kindOf, kinds } from './labels.ts'

export interface ConnectionFields {
  kind: GitKind
  name: string
  /** Empty for the default of the kind. */
  host: string
  repositories: string[]
  team_ids: string[] | null
  /** Empty to leave it as it is. */
  token: string
}

export const emptyConnection: ConnectionFields = {
  kind: 'github',
  name: '',
  host: '',
  repositories: [],
  team_ids: null,
  token: '',
}

interface Props {
  initial: ConnectionFields
  /** With it the kind is fixed. */
  hasToken?: boolean
  action: string
  /** May throw field errors, which are shown at the fields. */
  onSubmit: (fields: ConnectionFields) => Promise<void>
  children?: ReactNode
}

/** The error of a list names the place of the item. */
const listError = (errors: Record<string, string>, field: string) =>
  sentence(errors[field] ?? Object.entries(errors).find(([name]) => name.startsWith(`${field}.`))?.[1])

export function ConnectionForm({ initial, hasToken, action, onSubmit, children }: Props) {
  const teams = useTeams()
  const [fields, setFields] = useState(initial)
  const [repositories, setRepositories] = useState(initial.repositories.join('\n'))
  const [edited, setEdited] = useState<ReadonlySet<string>>(new Set())
  const form = useForm(async () => {
    setEdited(new Set())
    await onSubmit({ ...fields, repositories: repositories.split(/[\s,]+/).filter(Boolean) })
  }, ['kind', 'name', 'host', 'repositories', 'team_ids', 'token'])
  const change = (next: Partial<ConnectionFields>) => {
    setFields({ ...fields, ...next })
    setEdited(new Set([...edited, ...Object.keys(next)]))
  }
  // An error disappears when its field is edited.
  const errors = Object.fromEntries(
    Object.entries(form.errors).filter(([field]) => !edited.has(field.split('.')[0] ?? '')),
  )
  const isNew = hasToken === undefined
  const kind = kindOf(fields.kind)
  return (
    <form className="space-y-4 pb-2" noValidate onSubmit={form.submit}>
      <div className="grid gap-4 sm:grid-cols-2">
        {isNew && (
          <Field label="Git host" error={sentence(errors.kind)}>
            <Select value={fields.kind} onChange={({ target }) => change({ kind: target.value as GitKind })}>
              {kinds.map(({ value, label }) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
          </Field>
        )}
        <Field label="Host name" optional error={sentence(errors.host)}>
          <Input
            value={fields.host}
            placeholder={kind.host}
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => change({ host: target.value })}
          />
        </Field>
        <Field label="Name" className={isNew ? 'sm:col-span-2' : ''} error={sentence(errors.name)}>
          <Input value={fields.name} autoComplete="off" onChange={({ target }) => change({ name: target.value })} />
        </Field>
      </div>
      <Field
        label="Repositories"
        hint="As owner/name, one on each line. Events of other repositories are ignored."
        error={listError(errors, 'repositories')}
      >
        <Textarea
          value={repositories}
          placeholder="acme/shop"
          spellCheck={false}
          className="font-mono text-xs"
          onChange={({ target }) => {
            setRepositories(target.value)
            setEdited(new Set([...edited, 'repositories']))
          }}
        />
      </Field>
      <TeamCoverageField
        label="Teams"
        name="git-teams"
        teams={teams}
        value={{ all_teams: fields.team_ids === null, team_ids: fields.team_ids ?? [] }}
        onChange={({ all_teams, team_ids }) => change({ team_ids: all_teams ? null : team_ids })}
        hints={{ all: 'Links issues of all teams', selected: 'Links only issues of these teams' }}
        error={listError(errors, 'team_ids')}
      />
      <Field
        label={hasToken ? 'New access token' : 'Access token'}
        optional
        hint="With a token, each pull request gets one comment with a link to its issue. Without one, nothing is sent to the git host."
        error={sentence(errors.token)}
      >
        <Input
          type="password"
          value={fields.token}
          autoComplete="off"
          onChange={({ target }) => change({ token: target.value })}
        />
      </Field>
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
