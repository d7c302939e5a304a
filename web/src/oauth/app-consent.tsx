import type { ConsentRequest } from '@baton/protocol'
import { type ReactNode, useState } from 'react'
import { AccessAndChoices, ActsAs, AppAccess } from '../agent-apps/app-access.tsx'
import { api, inWorkspace } from '../data/api.ts'
import { Button } from '../ui/button.tsx'
import { useForm } from '../ui/form.ts'
import { isolated } from '../ui/isolated.ts'
import { Missing } from '../ui/missing.tsx'
import { Notice } from '../ui/states.tsx'
import {
  coverageFields,
  isChosen,
  missingTeams,
  type TeamCoverage,
  TeamCoverageField,
} from '../workspaces/team-coverage.tsx'
import { ConsentHeader } from './consent-header.tsx'

/** Consent page for installing an agent app. */
export function AppConsent({ request }: { request: ConsentRequest }) {
  const { app, scopes, webhook, workspaces, installed, can_approve, redirect_host } = request
  const name = app?.name ?? request.client_name
  const workspace = workspaces[0]?.name ?? 'your workspace'
  return (
    <div className="space-y-5">
      <ConsentHeader
        request={request}
        title={
          installed
            ? `Update ${isolated(name)} in ${isolated(workspace)}`
            : `Install ${isolated(name)} in ${isolated(workspace)}`
        }
      />
      <ActsAs name={name} />
      {!can_approve && <InstallRefused request={request} name={name} />}
      {can_approve ? (
        <AccessAndChoices>
          <AppAccess scopes={scopes} webhook={webhook} />
          <Decision request={request} name={name} />
        </AccessAndChoices>
      ) : (
        <>
          <AppAccess scopes={scopes} webhook={webhook} />
          <DenyButton request={request}>Go back to {redirect_host}</DenyButton>
        </>
      )}
    </div>
  )
}

/** Team selection, install and cancel. */
function Decision({ request, name }: { request: ConsentRequest; name: string }) {
  const { teams, installed } = request
  // Nothing is preselected the first time, so that access to all teams is always a decision.
  const [coverage, setCoverage] = useState<TeamCoverage | null>(installed)
  const form = useForm(async () => {
    if (!isChosen(coverage)) return
    const { redirect_to } = await api.approveConsent({ request_id: request.id, ...coverageFields(coverage) })
    location.assign(redirect_to)
  })
  return (
    <form onSubmit={form.submit} className="space-y-4">
      <TeamCoverageField
        label="Teams"
        name="teams"
        teams={teams}
        value={coverage}
        onChange={setCoverage}
        hints={{ all: 'Including future teams', selected: 'You can change this later in the settings' }}
      />
      {form.problem && <Notice tone="bad">{form.problem}</Notice>}
      <div className="flex flex-wrap justify-end gap-2">
        <Missing>{missingTeams(coverage)}</Missing>
        <DenyButton request={request}>Cancel</DenyButton>
        <Button type="submit" look="primary" busy={form.busy} disabled={!isChosen(coverage)}>
          <span>
            {installed ? 'Update ' : 'Install '}
            <bdi>{name}</bdi>
          </span>
        </Button>
      </div>
    </form>
  )
}

/** oauth.consent-page-refuses-member: a member sees the reason and can send a request to the managers. */
function InstallRefused({ request, name }: { request: ConsentRequest; name: string }) {
  const workspace = request.workspaces[0]
  const [requested, setRequested] = useState(false)
  const form = useForm(async () => {
    if (!request.app || !workspace) return
    await api.requestInstall({ app_id: request.app.id }, inWorkspace(workspace.id))
    setRequested(true)
  })
  return (
    <Notice
      tone="warn"
      title={`You cannot install ${isolated(name)}`}
      actions={
        workspace &&
        !requested && (
          <Button busy={form.busy} onClick={() => void form.submit()}>
            Request install
          </Button>
        )
      }
    >
      {requested ? (
        <span role="status">
          Request sent to the owners and admins of <bdi>{workspace?.name}</bdi>. Nothing was installed.
        </span>
      ) : (
        <>
          Only owners and admins of <bdi>{workspace?.name ?? 'its workspace'}</bdi> can install apps. Nothing was
          installed.
          {form.problem && <span role="alert"> {form.problem}</span>}
        </>
      )}
    </Notice>
  )
}

/** Denies the request and returns to the redirect URI with the error. */
export function DenyButton({ request, children }: { request: ConsentRequest; children: ReactNode }) {
  const form = useForm(async () => {
    const { redirect_to } = await api.denyConsent({ request_id: request.id })
    location.assign(redirect_to)
  })
  return (
    <Button busy={form.busy} onClick={() => void form.submit()}>
      {children}
    </Button>
  )
}
