import type { AgentApp, Installation } from '@baton/protocol'
import { scopeWords } from '@baton/protocol/scope-words'
import { PackagePlus } from 'lucide-react'
import { useState } from 'react'
import { refreshApps } from '../data/agent-apps.ts'
import { api } from '../data/api.ts'
import { cliCommand } from '../data/cli.ts'
import { useMe } from '../data/me.ts'
import { usePeople, useTeams } from '../data/workspaces.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { useForm } from '../ui/form.ts'
import { isolated } from '../ui/isolated.ts'
import { Card, Section } from '../ui/layout.tsx'
import { sentence } from '../ui/sentence.ts'
import { Time } from '../ui/time.tsx'
import { showError, showToast } from '../ui/toast.tsx'
import { coverageFields, type TeamCoverage, TeamCoverageField, useCoverageText } from '../workspaces/team-coverage.tsx'
import { InstallLink } from './install-link.tsx'
import { InstallPageLink } from './install-page-link.tsx'

/** Teams and scopes of an installed app, with the actions to change or uninstall it. */
export function Installed({ app, installation }: { app: AgentApp; installation: Installation }) {
  const { isManager } = useMe()
  const people = usePeople()
  const coverageText = useCoverageText()
  const [editing, setEditing] = useState(false)
  const [uninstalling, setUninstalling] = useState(false)
  const missing = app.requested_scopes.filter((scope) => !installation.scopes.includes(scope))
  const by = installation.installed_by ? people.get(installation.installed_by)?.display_name : undefined
  return (
    <Section title="Installation">
      <Card className="space-y-4 p-4">
        <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-6 gap-y-1.5 [&_dt]:text-ink-3">
          <dt>Teams</dt>
          <dd className="font-medium">{coverageText(installation)}</dd>
          <dt>Installed</dt>
          <dd>
            {by && `by ${by}, `}
            <Time at={installation.created_at} />
          </dd>
          <dt>Acts as</dt>
          <dd>
            <bdi>{installation.app_user.display_name}</bdi>
          </dd>
          <dt>Permissions</dt>
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
            Its manifest now requests more scopes: {missing.join(', ')}. An owner or admin must install it again to
            grant them.
          </p>
        )}
        {isManager ? (
          editing ? (
            <CoverageForm installation={installation} onDone={() => setEditing(false)} />
          ) : (
            <div className="flex flex-wrap gap-2">
              <Button onClick={() => setEditing(true)}>Change teams</Button>
              <Button onClick={() => setUninstalling(true)}>Uninstall</Button>
            </div>
          )
        ) : (
          <p className="text-ink-2">Only owners and admins can change its teams or uninstall it.</p>
        )}
      </Card>
      {missing.length > 0 && (
        <Card>
          <LinkBuilder app={app} />
        </Card>
      )}
      <Confirm
        open={uninstalling}
        onClose={() => setUninstalling(false)}
        title={`Uninstall ${isolated(app.name)}?`}
        action="Uninstall"
        typed={app.name}
        onConfirm={async () => {
          await api.deleteInstallation({ installation_id: installation.id })
          await refreshApps()
          showToast(`${isolated(app.name)} uninstalled`)
        }}
      >
        <UninstallEffects app={app} />
        <p>
          {app.a2a
            ? 'To use the agent again, register its card again.'
            : 'The app stays registered. Installing it again creates a new teammate.'}
        </p>
      </Confirm>
    </Section>
  )
}

export const UninstallEffects = ({ app }: { app: AgentApp }) => (
  <ul className="list-disc space-y-1 pl-5">
    {!app.a2a && <li>Its tokens stop working at once.</li>}
    <li>It is removed as delegate from all issues.</li>
    <li>Its agent sessions end.</li>
    <li>
      {app.a2a
        ? 'It is asked to cancel its tasks; pending deliveries are canceled.'
        : 'It receives one uninstall event; all other pending deliveries are canceled.'}
    </li>
  </ul>
)

function CoverageForm({ installation, onDone }: { installation: Installation; onDone: () => void }) {
  const teams = useTeams()
  const [coverage, setCoverage] = useState<TeamCoverage>({
    all_teams: installation.all_teams,
    team_ids: installation.team_ids,
  })
  const form = useForm(async () => {
    await api.updateInstallation({ installation_id: installation.id, ...coverageFields(coverage) })
    await refreshApps()
    showToast('Teams updated')
    onDone()
  }, ['team_ids'])
  const { team_ids: teamsError } = form.errors
  return (
    <form className="space-y-3" onSubmit={form.submit}>
      <TeamCoverageField
        label="Teams"
        name="coverage"
        teams={teams}
        value={coverage}
        onChange={setCoverage}
        hints={{ all: 'Including future teams', selected: 'It cannot see other teams' }}
        error={teamsError ? sentence(teamsError) : (form.problem ?? undefined)}
      />
      {!coverage.all_teams && (
        <p className="text-xs text-ink-2">In teams you remove, it loses its delegated issues and its sessions end.</p>
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

/** Managers install the app here or on its own page; other members request it. */
export function NotInstalled({ app, onInstall }: { app: AgentApp; onInstall: () => void }) {
  const { isManager } = useMe()
  return (
    <Section title="Install" hint="Registered, but not installed yet: it cannot see teams or accept work.">
      <Card className="divide-y">
        <div className="space-y-3 p-4">
          {!isManager ? (
            <RequestInstall app={app} />
          ) : app.install_page_url === null ? (
            <>
              <p>Choose its teams and scopes. You get its tokens once, as a .env file for the app.</p>
              <Button look="primary" icon={PackagePlus} onClick={onInstall}>
                Install
              </Button>
            </>
          ) : (
            <>
              <p>The app has its own install page. You return here to choose its teams.</p>
              <InstallPageLink app={app} />
            </>
          )}
        </div>
        {isManager && <InstallCommand app={app} />}
        <LinkBuilder app={app} />
      </Card>
    </Section>
  )
}

const InstallCommand = ({ app }: { app: AgentApp }) => (
  <details className="p-4">
    <summary className="w-fit rounded font-medium text-ink-2 hover:text-ink">Install from a terminal</summary>
    <div className="space-y-3 pt-4">
      <p>
        Run this next to the <code className="font-mono text-xs">.env</code> of the app. It stores the tokens where the
        app reads them:
      </p>
      <code className="block w-fit max-w-full overflow-x-auto rounded border bg-sunken px-2.5 py-1.5 font-mono text-xs">
        {cliCommand(`apps install ${app.id}`)}
      </code>
      <p className="text-ink-2">
        It shows the requested permissions before you confirm, and installs for all teams without the option{' '}
        <code className="font-mono text-xs whitespace-nowrap">--teams</code>.
      </p>
    </div>
  </details>
)

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
      <p>Only owners and admins can install apps. Your request appears in their inbox.</p>
      {requested ? (
        <p role="status" className="font-medium text-ok-ink">
          Request sent.
        </p>
      ) : (
        <Button look="primary" busy={busy} onClick={() => void request()}>
          Request install
        </Button>
      )}
    </>
  )
}
