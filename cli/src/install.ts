import { randomBytes } from 'node:crypto'
import { type AgentApp, createInstaller, fileTokens, type InstallationTokens } from '@baton/sdk'
import type { Account } from './account.ts'
import { Failure } from './failure.ts'

interface InstallOptions {
  app: AgentApp
  clientSecret: string
  /** Ids of teams; all if there are none. */
  teamIds: string[]
  tokensDirectory: string
  signal: AbortSignal
  /** Shows somebody what is asked for; throws unless they agree. Left out where nobody is asked. */
  agree?(scopes: string[]): Promise<void>
}

/** 4.2 with the developer as the manager: begins, consents with their login, and takes the tokens. */
export async function install(account: Account, options: InstallOptions): Promise<InstallationTokens> {
  const { app, clientSecret, tokensDirectory } = options
  const installSecret = randomBytes(16).toString('hex')
  const redirectUri = app.redirect_uris[0] ?? ''
  let tokens: InstallationTokens | undefined
  const installer = createInstaller({
    clientId: app.client_id,
    clientSecret,
    baseUrl: account.url,
    // The instance may call itself by another name than the one it is reached by here.
    issuer: String((await account.client.getServerMetadata()).issuer),
    redirectUri,
    scopes: app.requested_scopes,
    store: fileTokens(tokensDirectory),
    installSecret,
    onInstalled(stored) {
      tokens = stored
      return undefined
    },
  })
  const started = await installer.start(new Request(`${redirectUri}?secret=${installSecret}`))
  const approvedAt = await approve(account, started.headers.get('location') ?? '', options)
  const cookie = (started.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const answer = await installer.callback(new Request(approvedAt, { headers: { cookie } }))
  if (tokens) return tokens
  throw new Failure(`The installation did not succeed: ${(await answer.text()).trim()}`, {
    advice: 'If the client secret is an old one: `baton apps rotate client`.',
  })
}

/** What a manager does in a browser: opens the address, looks, agrees. Answers where the browser is sent. */
async function approve(account: Account, address: string, options: InstallOptions): Promise<string> {
  const { teamIds, signal, agree } = options
  const { status, headers, body } = await fetch(address, {
    headers: { authorization: `Bearer ${account.token}` },
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(15_000)]),
  })
  await body?.cancel()
  const location = headers.get('location')
  const leadsTo = location && URL.canParse(location) ? new URL(location).searchParams : null
  const request_id = leadsTo?.get('request')
  if (!request_id) {
    const why = leadsTo?.get('error_description') ?? leadsTo?.get('error') ?? `it answered ${status}`
    throw new Failure(`The service did not begin the installation: ${why}`)
  }
  const request = await account.client.getConsentRequest({ request_id })
  if (!request.can_approve) {
    throw new Failure('Installing an app is for owners and admins of the workspace.', {
      code: 'FORBIDDEN',
      advice: 'Ask them with `baton apps install APP --request`.',
    })
  }
  await agree?.(request.scopes)
  const teams = teamIds.length > 0 ? { team_ids: teamIds } : { all_teams: true as const }
  return (await account.client.approveConsent({ request_id, ...teams })).redirect_to
}
