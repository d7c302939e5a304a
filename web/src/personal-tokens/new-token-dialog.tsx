import type { Scope } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { scopeWords } from '@baton/protocol/scope-words'
import { useId, useState } from 'react'
import { api } from '../data/api.ts'
import { useTeams } from '../data/workspaces.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Checkbox, Field, Input, Select } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { sentence } from '../ui/sentence.ts'
import { Notice } from '../ui/states.tsx'
import { isChosen, type TeamCoverage, TeamCoverageField } from '../workspaces/team-coverage.tsx'
import { rereadTokens } from './tokens.ts'

const scopes: Scope[] = ['read', 'write', 'issues:create', 'comments:create']
const lifetimes = [7, 30, 90, 180, 365]
const dayMs = 86_400_000
/** The clock of the browser may be ahead of the server's, which allows at most 365 days. */
const slackMs = 3_600_000

/** Creates a token, then shows it once. */
export function NewTokenDialog({ onClose }: { onClose: () => void }) {
  const [token, setToken] = useState<string | null>(null)
  if (token === null) return <NewTokenForm onClose={onClose} onCreated={setToken} />
  return (
    <Dialog
      open
      onClose={onClose}
      title="Copy your token"
      description="It is shown only now. Lost it? Revoke it and create a new one."
      size="sm"
      footer={
        <Button look="primary" onClick={onClose}>
          I've saved it
        </Button>
      }
    >
      <div className="space-y-3 pb-3">
        <Copyable text={token} label="token" autoFocus />
        <p className="text-ink-2">
          Send it as <code className="font-mono text-xs">Authorization: Bearer …</code>. Anyone with the token can act
          as you.
        </p>
      </div>
    </Dialog>
  )
}

function NewTokenForm({ onClose, onCreated }: { onClose: () => void; onCreated: (token: string) => void }) {
  const id = useId()
  const teams = useTeams()
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<Scope[]>(['read'])
  const [coverage, setCoverage] = useState<TeamCoverage>({ all_teams: true, team_ids: [] })
  const [lifetime, setLifetime] = useState(90)
  const form = useForm(async () => {
    const { token } = await api.createPersonalToken({
      name,
      scopes: chosen,
      team_ids: coverage.all_teams ? null : coverage.team_ids,
      expires_at: new Date(Date.now() + lifetime * dayMs - slackMs).toISOString(),
    })
    onCreated(token)
    void rereadTokens()
  }, ['name', 'scopes', 'team_ids', 'expires_at'])
  const toggle = (scope: Scope, on: boolean) =>
    setChosen(scopes.filter((one) => (one === scope ? on : chosen.includes(one))))
  return (
    <Dialog
      open
      onClose={onClose}
      title="New personal token"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={id}
            look="primary"
            busy={form.busy}
            disabled={chosen.length === 0 || !isChosen(coverage)}
          >
            Create token
          </Button>
        </>
      }
    >
      <form id={id} onSubmit={form.submit} className="space-y-4 pb-3">
        <Field label="Name" hint="What it is for, such as the name of the script." error={sentence(form.errors.name)}>
          <Input required maxLength={limits.name} value={name} onChange={({ target }) => setName(target.value)} />
        </Field>
        <fieldset className="space-y-1.5">
          <legend className="mb-1 font-medium">It may</legend>
          {scopes.map((scope) => {
            const included = scopeWords.write.implies?.includes(scope) && chosen.includes('write')
            return (
              <Checkbox
                key={scope}
                label={scopeWords[scope].short}
                hint={included ? `${scope}, included in write` : scope}
                checked={included || chosen.includes(scope)}
                disabled={included}
                onChange={({ target }) => toggle(scope, target.checked)}
              />
            )
          })}
          {form.errors.scopes && (
            <p role="alert" className="text-xs text-bad-ink">
              {sentence(form.errors.scopes)}
            </p>
          )}
        </fieldset>
        <TeamCoverageField
          label="Teams"
          name="token-teams"
          teams={teams}
          value={coverage}
          onChange={setCoverage}
          hints={{ all: 'Everything that you can access', selected: 'No private items, and nothing of other teams' }}
          error={sentence(form.errors.team_ids)}
        />
        <Field label="Expires" error={sentence(form.errors.expires_at)} className="max-w-40">
          <Select value={lifetime} onChange={({ target }) => setLifetime(Number(target.value))}>
            {lifetimes.map((days) => (
              <option key={days} value={days}>
                in {days} days
              </option>
            ))}
          </Select>
        </Field>
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
      </form>
    </Dialog>
  )
}
