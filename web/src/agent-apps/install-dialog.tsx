import type { AgentApp, AppEventType, TokenResponse } from '@baton/protocol'
import { type ReactNode, useId, useState } from 'react'
import { flushSync } from 'react-dom'
import { refreshApps } from '../data/agent-apps.ts'
import { api } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { useTeams } from '../data/workspaces.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { useForm } from '../ui/form.ts'
import { isolated } from '../ui/isolated.ts'
import { Missing } from '../ui/missing.tsx'
import { sentence } from '../ui/sentence.ts'
import { Notice } from '../ui/states.tsx'
import {
  coverageFields,
  isChosen,
  missingTeams,
  type TeamCoverage,
  TeamCoverageField,
} from '../workspaces/team-coverage.tsx'
import { AccessAndChoices, ActsAs, AppAccess } from './app-access.tsx'
import { InstallPageLink } from './install-page-link.tsx'
import { ConfirmLeaving } from './leave-guard.tsx'
import { NewSecrets } from './new-secrets.tsx'
import { ScopeChoice } from './scope-choice.tsx'

interface Props {
  app: AgentApp
  onClose: () => void
}

/** Installs an app: first the words of the consent page, then the tokens, once. For managers. */
export function InstallDialog({ app, onClose }: Props) {
  const { workspace } = useMe()
  const [tokens, setTokens] = useState<TokenResponse | null>(null)
  const [leaving, setLeaving] = useState(false)
  const [finished, setFinished] = useState(false)
  const finish = () => {
    // Removes the leave guard, because the user confirmed.
    flushSync(() => setFinished(true))
    onClose()
  }
  if (finished) return null
  if (tokens) {
    return (
      <Dialog
        open
        onClose={() => setLeaving(true)}
        title={
          <>
            Tokens of <bdi>{app.name}</bdi>
          </>
        }
      >
        <div className="pb-3">
          <NewSecrets title={`${isolated(app.name)} installed`} noun="tokens" settings={settingsOf(app, tokens)}>
            <Button look="primary" onClick={finish}>
              I've saved them
            </Button>
          </NewSecrets>
        </div>
        <ConfirmLeaving noun="tokens" open={leaving} onStay={() => setLeaving(false)} onLeave={finish} />
      </Dialog>
    )
  }
  const title = (
    <>
      Install <bdi>{app.name}</bdi> in <bdi>{workspace?.name ?? 'your workspace'}</bdi>
    </>
  )
  if (app.install_page_url !== null) {
    return (
      <Dialog open onClose={onClose} title={title} size="sm" footer={<InstallPageLink app={app} />}>
        <p className="pb-2 text-ink-2">This app is installed on its own page. It opens in a new tab.</p>
      </Dialog>
    )
  }
  return <InstallForm app={app} title={title} onClose={onClose} onInstalled={setTokens} />
}

const settingsOf = (app: AgentApp, tokens: TokenResponse) => ({
  APP_ID: app.id,
  CLIENT_ID: app.client_id,
  INSTALLATION_ID: tokens.installation_id ?? '',
  WORKSPACE_ID: tokens.workspace_id,
  APP_USER_ID: tokens.app_user_id ?? '',
  ACCESS_TOKEN: tokens.access_token,
  REFRESH_TOKEN: tokens.refresh_token,
})

interface FormProps extends Props {
  title: ReactNode
  onInstalled: (tokens: TokenResponse) => void
}

function InstallForm({ app, title, onClose, onInstalled }: FormProps) {
  const teams = useTeams()
  const id = useId()
  const [scopes, setScopes] = useState(app.requested_scopes)
  const [coverage, setCoverage] = useState<TeamCoverage | null>(null)
  const form = useForm(async () => {
    if (!isChosen(coverage)) return
    onInstalled(await api.installApp({ app_id: app.id, scopes, ...coverageFields(coverage) }))
    void refreshApps()
  }, ['team_ids'])
  const { team_ids: teamsError } = form.errors
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      size="lg"
      description={
        <>
          Made by <bdi>{app.developer.name}</bdi>
          {app.developer.url && ` (${new URL(app.developer.url).host})`}
        </>
      }
      footer={
        <>
          <Missing>{missingTeams(coverage)}</Missing>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={id} look="primary" busy={form.busy} disabled={!isChosen(coverage)}>
            <span>
              Install <bdi>{app.name}</bdi>
            </span>
          </Button>
        </>
      }
    >
      <form id={id} onSubmit={form.submit} className="space-y-4 pb-3">
        <ActsAs name={app.name} />
        <AccessAndChoices>
          <AppAccess scopes={scopes.length > 0 ? scopes : ['read']} webhook={webhookOf(app)} />
          <div className="space-y-4">
            <TeamCoverageField
              label="Teams"
              name="teams"
              teams={teams}
              value={coverage}
              onChange={setCoverage}
              hints={{ all: 'Including future teams', selected: 'You can change this later in the settings' }}
              error={teamsError && sentence(teamsError)}
            />
            <ScopeChoice requested={app.requested_scopes} value={scopes} onChange={setScopes} />
            <p className="text-ink-2">You get its tokens once, to copy into the settings of the app.</p>
          </div>
        </AccessAndChoices>
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
      </form>
    </Dialog>
  )
}

const alwaysSent: AppEventType[] = ['AgentSessionEvent', 'PermissionChange', 'OAuthApp']

const webhookOf = ({ webhook: { url, state, resource_types } }: AgentApp) =>
  state === 'enabled' && url !== '' ? { host: new URL(url).host, resource_types, always: alwaysSent } : null
