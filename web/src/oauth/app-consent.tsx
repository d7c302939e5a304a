import type { ConsentRequest } from '@baton/protocol'
import { scopeWords } from '@baton/protocol/scope-words'
import { Check, Webhook, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { listenUrl } from '../agent-apps/manifest.ts'
import { eventWords, missingFrom, neverAllowed, scopeNames } from '../agent-apps/scope-words.ts'
import { api, inWorkspace } from '../data/api.ts'
import { Button } from '../ui/button.tsx'
import { useForm } from '../ui/form.ts'
import { Card } from '../ui/layout.tsx'
import { Notice } from '../ui/states.tsx'
import { type TeamCoverage, TeamCoverageField } from '../workspaces/team-coverage.tsx'
import { ConsentHeader } from './consent-header.tsx'

/** An agent app asks to be installed. */
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
      {!can_approve && <Refused request={request} name={name} />}
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
          {[...missingFrom(scopes).map((scope) => scopeWords[scope].cannot), ...neverAllowed].map((words) => (
            <Line key={words}>{words}</Line>
          ))}
        </Part>
        <Part title="It will be told">
          {webhook ? (
            <li className="flex gap-2.5">
              <Webhook size={15} aria-hidden className="mt-0.5 shrink-0 text-ink-3" />
              <span>
                {webhook.host === new URL(listenUrl).host ? (
                  <>
                    Goes to whoever runs <code className="font-mono text-xs">npx baton listen</code>, not to an address:
                  </>
                ) : (
                  <>
                    At <strong className="font-semibold">{webhook.host}</strong>:
                  </>
                )}{' '}
                {[...webhook.always, ...webhook.resource_types].map((type) => eventWords[type] ?? type).join('; ')}.
                Only for the teams you choose.
              </span>
            </li>
          ) : (
            <Line>Nothing: it has no webhook, so it hears of nothing by itself</Line>
          )}
        </Part>
      </Card>
      {can_approve ? (
        <Decision request={request} name={name} />
      ) : (
        <Leave request={request}>Go back to {redirect_host}</Leave>
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

/** Which teams, and yes or no. */
function Decision({ request, name }: { request: ConsentRequest; name: string }) {
  const { teams, installed } = request
  const [coverage, setCoverage] = useState<TeamCoverage>(installed ?? { all_teams: true, team_ids: [] })
  const { all_teams, team_ids } = coverage
  const form = useForm(async () => {
    const chosen = all_teams ? { all_teams } : { team_ids }
    const { redirect_to } = await api.approveConsent({ request_id: request.id, ...chosen })
    location.assign(redirect_to)
  })
  return (
    <form onSubmit={form.submit} className="space-y-4">
      <TeamCoverageField
        label="Teams it reaches"
        name="teams"
        teams={teams}
        value={coverage}
        onChange={setCoverage}
        hints={{ all: 'Those that come later too', selected: 'You can change this at any time in the settings' }}
      />
      {form.problem && <Notice tone="bad">{form.problem}</Notice>}
      <div className="flex flex-wrap justify-end gap-2">
        <Leave request={request}>Cancel</Leave>
        <Button type="submit" look="primary" busy={form.busy} disabled={!all_teams && team_ids.length === 0}>
          {installed ? `Update ${name}` : `Install ${name}`}
        </Button>
      </div>
    </form>
  )
}

/** 4.2.3: whoever is not a manager sees why, and can ask those who are. */
function Refused({ request, name }: { request: ConsentRequest; name: string }) {
  const workspace = request.workspaces[0]
  const [asked, setAsked] = useState(false)
  const form = useForm(async () => {
    if (!request.app || !workspace) return
    await api.requestInstall({ app_id: request.app.id }, inWorkspace(workspace.id))
    setAsked(true)
  })
  return (
    <Notice
      tone="warn"
      title={`You cannot install ${name}`}
      actions={
        workspace &&
        !asked && (
          <Button busy={form.busy} onClick={() => void form.submit()}>
            Request install
          </Button>
        )
      }
    >
      {asked ? (
        <span role="status">
          The managers of {workspace?.name} find your request in their inbox. Nothing was installed.
        </span>
      ) : (
        <>
          Only owners and admins of {workspace?.name ?? 'its workspace'} can do that. Nothing was installed.
          {form.problem && <span role="alert"> {form.problem}</span>}
        </>
      )}
    </Notice>
  )
}

/** Says no, and goes back to where the browser came from. */
export function Leave({ request, children }: { request: ConsentRequest; children: ReactNode }) {
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
