import type { ConsentRequest } from '@baton/protocol'
import { scopeWords } from '@baton/protocol/scope-words'
import { Check, Webhook, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { listenUrl } from '../agent-apps/manifest.ts'
import { eventTexts, missingScopes, neverAllowed, scopeNames } from '../agent-apps/scopes.ts'
import { api, inWorkspace } from '../data/api.ts'
import { Button } from '../ui/button.tsx'
import { useForm } from '../ui/form.ts'
import { Card } from '../ui/layout.tsx'
import { Notice } from '../ui/states.tsx'
import { type TeamCoverage, TeamCoverageField } from '../workspaces/team-coverage.tsx'
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
        title={installed ? `Update ${name} in ${workspace}` : `Install ${name} in ${workspace}`}
      />
      <p className="rounded-lg bg-agent-wash px-4 py-2.5 text-base text-agent-ink">
        It acts as <strong className="font-semibold">{name}</strong>, not as you.
      </p>
      {!can_approve && <InstallRefused request={request} name={name} />}
      <Card className="divide-y">
        <Part title="It can">
          {scopeNames
            .filter((scope) => scopes.includes(scope))
            .map((scope) => (
              <Line key={scope} can>
                {scopeWords[scope].can}
              </Line>
            ))}
        </Part>
        <Part title="It cannot">
          {[...missingScopes(scopes).map((scope) => scopeWords[scope].cannot), ...neverAllowed].map((text) => (
            <Line key={text}>{text}</Line>
          ))}
        </Part>
        <Part title="It will receive">
          {webhook ? (
            <li className="flex gap-2.5">
              <Webhook size={15} aria-hidden className="mt-0.5 shrink-0 text-ink-3" />
              <span>
                {webhook.host === new URL(listenUrl).host ? (
                  <>
                    On the machine that runs <code className="font-mono text-xs">baton listen</code>, not at a URL:
                  </>
                ) : (
                  <>
                    At <strong className="font-semibold">{webhook.host}</strong>:
                  </>
                )}{' '}
                {[...webhook.always, ...webhook.resource_types].map((type) => eventTexts[type] ?? type).join('; ')}.
                Only for the teams you select.
              </span>
            </li>
          ) : (
            <Line>No events: it has no webhook</Line>
          )}
        </Part>
      </Card>
      {can_approve ? (
        <Decision request={request} name={name} />
      ) : (
        <DenyButton request={request}>Go back to {redirect_host}</DenyButton>
      )}
    </div>
  )
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="px-4 py-3">
    <h2 className="mb-1.5 text-xs font-semibold text-ink-2">{title}</h2>
    <ul className="space-y-1.5">{children}</ul>
  </section>
)

const Line = ({ can, children }: { can?: boolean; children: ReactNode }) => (
  <li className="flex gap-2.5">
    {can ? (
      <Check size={15} aria-hidden className="mt-0.5 shrink-0 text-ok" />
    ) : (
      <X size={15} aria-hidden className="mt-0.5 shrink-0 text-ink-3" />
    )}
    <span>{children}</span>
  </li>
)

/** Team selection, install and cancel. */
function Decision({ request, name }: { request: ConsentRequest; name: string }) {
  const { teams, installed } = request
  const [coverage, setCoverage] = useState<TeamCoverage>(installed ?? { all_teams: true, team_ids: [] })
  const { all_teams, team_ids } = coverage
  const form = useForm(async () => {
    const selection = all_teams ? { all_teams } : { team_ids }
    const { redirect_to } = await api.approveConsent({ request_id: request.id, ...selection })
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
        <DenyButton request={request}>Cancel</DenyButton>
        <Button type="submit" look="primary" busy={form.busy} disabled={!all_teams && team_ids.length === 0}>
          {installed ? `Update ${name}` : `Install ${name}`}
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
      title={`You cannot install ${name}`}
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
        <span role="status">Request sent to the owners and admins of {workspace?.name}. Nothing was installed.</span>
      ) : (
        <>
          Only owners and admins of {workspace?.name ?? 'its workspace'} can install apps. Nothing was installed.
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
