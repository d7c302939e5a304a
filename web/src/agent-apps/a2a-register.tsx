import type { InspectedCard, NewA2aApp } from '@baton/protocol'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { refreshApps } from '../data/agent-apps.ts'
import { api, isBatonError } from '../data/api.ts'
import { useTeams } from '../data/workspaces.ts'
import { Button } from '../ui/button.tsx'
import { Field, Input } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { isolated } from '../ui/isolated.ts'
import { Card } from '../ui/layout.tsx'
import { Missing } from '../ui/missing.tsx'
import { sentence } from '../ui/sentence.ts'
import { Notice } from '../ui/states.tsx'
import { showToast } from '../ui/toast.tsx'
import {
  coverageFields,
  isChosen,
  missingTeams,
  type TeamCoverage,
  TeamCoverageField,
} from '../workspaces/team-coverage.tsx'
import { CardDetails } from './a2a-card.tsx'
import { CredentialFields, credentialOf, missingCredential, noCredential } from './a2a-credential.tsx'
import { ScopeChoice } from './scope-choice.tsx'

const offered: NewA2aApp['scopes'] = ['app:assignable', 'app:mentionable']

const unusable: Record<string, string> = {
  not_a_card: 'This is not an agent card.',
  no_supported_binding: 'The agent offers neither JSON-RPC nor HTTP+JSON.',
  no_supported_version: 'The agent speaks a version of A2A that Baton does not support (1.x and 0.3.x are supported).',
  interface_not_public: 'The interface of the agent is not at a public https address.',
  required_extension: 'The agent requires an extension of A2A.',
  mtls_only: 'The agent requires a client certificate.',
}

/** Why the card of an agent cannot be used, in words. */
export const cardProblem = (error: unknown): string | undefined =>
  isBatonError(error, 'A2A_CARD_UNUSABLE') ? unusable[String(error.details.reason)] : undefined

/** Registers and installs an A2A agent from its card. For managers. */
export function RegisterFromCard() {
  const [url, setUrl] = useState('')
  const [inspected, setInspected] = useState<{ url: string; card: InspectedCard } | null>(null)
  const [unusableCard, setUnusableCard] = useState<string | undefined>(undefined)
  const form = useForm(async () => {
    setUnusableCard(undefined)
    setInspected(null)
    try {
      setInspected({ url, card: await api.inspectA2aCard({ card_url: url }) })
    } catch (error) {
      setUnusableCard(cardProblem(error))
      throw error
    }
  }, ['card_url'])
  return (
    <div className="space-y-6">
      <form onSubmit={form.submit} className="max-w-2xl space-y-3">
        <Field
          label="Card URL"
          hint="The address of the agent, or of its card. Without a path, /.well-known/agent-card.json is read."
          error={unusableCard ?? sentence(form.errors.card_url)}
        >
          <Input
            type="url"
            required
            autoFocus
            placeholder="https://agents.example.com"
            value={url}
            onChange={({ target }) => setUrl(target.value.trim())}
          />
        </Field>
        {form.problem && !unusableCard && <Notice tone="bad">{form.problem}</Notice>}
        <Button type="submit" look={inspected ? 'plain' : 'primary'} busy={form.busy}>
          Read card
        </Button>
      </form>
      {inspected && <InstallFromCard key={inspected.url} {...inspected} />}
    </div>
  )
}

function InstallFromCard({ url, card }: { url: string; card: InspectedCard }) {
  const teams = useTeams()
  const navigate = useNavigate()
  const [name, setName] = useState(card.name)
  const [scopes, setScopes] = useState(offered)
  const [coverage, setCoverage] = useState<TeamCoverage | null>(null)
  const [credential, setCredential] = useState(noCredential)
  const sent = credentialOf(credential)
  const missing =
    missingTeams(coverage) ?? (scopes.length === 0 ? 'Select at least one scope.' : missingCredential(credential))
  const form = useForm(async () => {
    if (!isChosen(coverage) || sent === undefined) return
    const created = await api.createA2aApp({
      card_url: url,
      name,
      scopes,
      credential: sent,
      ...coverageFields(coverage),
    })
    await refreshApps()
    showToast(`${isolated(created.app.name)} installed`)
    void navigate({ to: '/settings/agent-apps/$appId', params: { appId: created.app.id } })
  }, ['name', 'team_ids', 'credential', 'credential.header', 'credential.token', 'credential.value'])
  const { warnings, interface: used } = card
  return (
    <form onSubmit={form.submit} className="grid grid-cols-1 items-start gap-6 lg:grid-cols-2">
      <Card className="space-y-4 p-4">
        <div>
          <h2 className="text-base font-semibold">
            <bdi>{card.name}</bdi>
          </h2>
          {card.description && (
            <p className="text-ink-2">
              <bdi>{card.description}</bdi>
            </p>
          )}
        </div>
        <CardDetails card={card} used={used} />
        {warnings.map((warning) => (
          <Notice key={warning} tone="warn">
            {warning}
          </Notice>
        ))}
      </Card>
      <div className="space-y-4">
        <Field label="Name" error={sentence(form.errors.name)}>
          <Input required value={name} onChange={({ target }) => setName(target.value)} />
        </Field>
        <TeamCoverageField
          label="Teams"
          name="teams"
          teams={teams}
          value={coverage}
          onChange={setCoverage}
          hints={{ all: 'Including future teams', selected: 'You can change this later' }}
          error={sentence(form.errors.team_ids)}
        />
        <ScopeChoice
          requested={offered}
          value={scopes}
          onChange={(chosen) => setScopes(offered.filter((scope) => chosen.includes(scope)))}
          without="Select at least one."
        />
        <CredentialFields value={credential} onChange={setCredential} errors={form.errors} />
        <p className="text-ink-2">
          Issues and comments that people give it are sent to {new URL(used.url).host}. It gets no access to Baton.
        </p>
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <div className="flex flex-wrap items-center gap-2">
          <Button type="submit" look="primary" busy={form.busy} disabled={missing !== null}>
            Register and install
          </Button>
          <Missing>{missing}</Missing>
        </div>
      </div>
    </form>
  )
}
