import type { AgentApp, Installation } from '@baton/protocol'
import { scopeWords } from '@baton/protocol/scope-words'
import { useState } from 'react'
import { refreshApps } from '../data/agent-apps.ts'
import { api } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { usePeople, useTeams } from '../data/workspaces.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { useForm } from '../ui/form.ts'
import { Card, Section } from '../ui/layout.tsx'
import { Time } from '../ui/time.tsx'
import { say, showError } from '../ui/toast.tsx'
import { type TeamCoverage, TeamCoverageField, useCoverageInWords } from '../workspaces/team-coverage.tsx'
import { InstallLink } from './install-link.tsx'

/** Where an installed app reaches, and how to change or end that. */
export function Installed({ app, installation }: { app: AgentApp; installation: Installation }) {
  const { isManager } = useMe()
  const people = usePeople()
  const inWords = useCoverageInWords()
  const [editing, setEditing] = useState(false)
  const [leaving, setLeaving] = useState(false)
  const missing = app.requested_scopes.filter((scope) => !installation.scopes.includes(scope))
  const by = installation.installed_by ? people.get(installation.installed_by)?.display_name : undefined
  return (
    <Section title="Installation">
      <Card className="space-y-4 p-4">
        <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-6 gap-y-1.5 [&_dt]:text-ink-3">
          <dt>Reaches</dt>
          <dd className="font-medium">{inWords(installation)}</dd>
          <dt>Installed</dt>
          <dd>
            {by && `by ${by}, `}
            <Time at={installation.created_at} />
          </dd>
          <dt>Acts as</dt>
          <dd>{installation.app_user.display_name}</dd>
          <dt>May</dt>
          <dd>
            <ul>
              {installation.scopes.map((scope) => (
                <li key={scope}>
                  {scopeWords[scope].short} <span className="font-mono text-xs text-ink-3">{scope}</span>
                </li>
              ))}
            </ul>
          </dd>
        </dl>
        {missing.length > 0 && (
          <p className="text-warn-ink">
            It asks for more since it was installed: {missing.join(', ')}. That needs an owner's or admin's consent:
            install it once more.
          </p>
        )}
        {isManager ? (
          editing ? (
            <Coverage installation={installation} onDone={() => setEditing(false)} />
          ) : (
            <div className="flex flex-wrap gap-2">
              <Button onClick={() => setEditing(true)}>Change teams</Button>
              <Button onClick={() => setLeaving(true)}>Uninstall</Button>
            </div>
          )
        ) : (
          <p className="text-ink-2">Owners and admins change its teams and uninstall it.</p>
        )}
      </Card>
      {missing.length > 0 && (
        <Card>
          <LinkBuilder app={app} />
        </Card>
      )}
      <Confirm
        open={leaving}
        onClose={() => setLeaving(false)}
        title={`Uninstall ${app.name}?`}
        action="Uninstall"
        typed={app.name}
        onConfirm={async () => {
          await api.deleteInstallation({ installation_id: installation.id })
          await refreshApps()
          say(`${app.name} is uninstalled.`)
        }}
      >
        <WhatEnds />
        <p>The app stays registered and can be installed again, as a new teammate.</p>
      </Confirm>
    </Section>
  )
}

export const WhatEnds = () => (
  <ul className="list-disc space-y-1 pl-5">
    <li>Its tokens stop working at once.</li>
    <li>Every issue that is delegated to it is released.</li>
    <li>Its agent sessions end.</li>
    <li>It is told so once; everything else that was still to be delivered is canceled.</li>
  </ul>
)

function Coverage({ installation, onDone }: { installation: Installation; onDone: () => void }) {
  const teams = useTeams()
  const [coverage, setCoverage] = useState<TeamCoverage>({
    all_teams: installation.all_teams,
    team_ids: installation.team_ids,
  })
  const form = useForm(async () => {
    const { all_teams, team_ids } = coverage
    await api.updateInstallation({
      installation_id: installation.id,
      ...(all_teams ? { all_teams: true as const } : { team_ids }),
    })
    await refreshApps()
    say('Its teams are changed.')
    onDone()
  }, ['team_ids'])
  const { team_ids: teamsError } = form.errors
  const lost = !coverage.all_teams
  return (
    <form className="space-y-3" onSubmit={form.submit}>
      <TeamCoverageField
        label="Teams that it reaches"
        name="coverage"
        teams={teams}
        value={coverage}
        onChange={setCoverage}
        hints={{ all: 'Also those that are created later.', selected: 'Only these; it sees nothing of the others.' }}
        error={teamsError ? `It ${teamsError}.` : (form.problem ?? undefined)}
      />
      {lost && (
        <p className="text-xs text-ink-2">
          In teams that it loses, what was delegated to it is released and its sessions end.
        </p>
      )}
      <div className="flex gap-2">
        <Button type="submit" look="primary" busy={form.busy}>
          Save teams
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </form>
  )
}

/** How an app comes to be installed: by its own doing, with a manager's consent. */
export function NotInstalled({ app }: { app: AgentApp }) {
  const { isManager } = useMe()
  return (
    <Section
      title="Install"
      hint="It is registered, but not installed: it reaches no team, and nobody can hand it work yet."
    >
      <Card className="divide-y">
        <div className="space-y-3 p-4">
          {isManager ? (
            <>
              <p>
                The app starts its own installation, because it keeps the verifier that the tokens are fetched with.
                Open the app's install page, or run this where its <code className="font-mono text-xs">.env</code> is:
              </p>
              <code className="block w-fit max-w-full overflow-x-auto rounded border bg-sunken px-2.5 py-1.5 font-mono text-xs">
                npx baton apps install {app.id}
              </code>
              <p className="text-ink-2">
                Either way you see what it asks for before you agree. The page lets you choose its teams; the command
                takes them with <code className="font-mono text-xs whitespace-nowrap">--teams</code>, and means all of
                them otherwise.
              </p>
            </>
          ) : (
            <RequestInstall app={app} />
          )}
        </div>
        <LinkBuilder app={app} />
      </Card>
    </Section>
  )
}

const LinkBuilder = ({ app }: { app: AgentApp }) => (
  <details className="p-4">
    <summary className="w-fit rounded font-medium text-ink-2 hover:text-ink">Build an install link</summary>
    <div className="pt-4">
      <InstallLink app={app} />
    </div>
  </details>
)

function RequestInstall({ app }: { app: AgentApp }) {
  const [requested, setRequested] = useState(false)
  const { run: request, busy } = useAction(async () => {
    await api.requestInstall({ app_id: app.id })
    setRequested(true)
  }, showError)
  return (
    <>
      <p>Owners and admins decide what is installed. Ask them; they find it in their inbox.</p>
      {requested ? (
        <p role="status" className="font-medium text-ok-ink">
          Asked. You need not ask again.
        </p>
      ) : (
        <Button look="primary" busy={busy} onClick={() => void request()}>
          Request install
        </Button>
      )}
    </>
  )
}
