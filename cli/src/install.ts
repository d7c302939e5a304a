import { randomBytes } from 'node:crypto'
import { type AgentApp, createInstaller, fileTokens, type InstallationTokens } from '@baton/sdk'
import type { Account } from './account.ts'
import { Failure } from './failure.ts'
import { commandName } from './origin.ts'

interface InstallOptions {
  app: AgentApp
  clientSecret: string
  /** An empty list means all teams. */
  teamIds: string[]
  tokensDirectory: string
  signal: AbortSignal
  /** Shows the requested scopes and throws unless the user agrees. Omitted: no confirmation. */
  agree?(scopes: string[]): Promise<void>
}

/** Installs the app with the developer's login: runs the OAuth flow, approves it, and stores the tokens. */
export async function install(account: Account, options: InstallOptions): Promise<InstallationTokens> {
  const { app, clientSecret, tokensDirectory } = options
  const installSecret = randomBytes(16).toString('hex')
  const redirectUri = app.redirect_uris[0] ?? ''
  let tokens: InstallationTokens | undefined
  const installer = createInstaller({
    clientId: app.client_id,
    clientSecret,
    baseUrl: account.url,
    // The instance may have another public URL than the one used here.
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
  throw new Failure(`The installation failed: ${(await answer.text()).trim()}`)
}

/** Does what a manager does in a browser: opens the consent page and approves. Returns the redirect URL. */
async function approve(account: Account, address: string, options: InstallOptions): Promise<string> {
  const { app, teamIds, signal, agree } = options
  const { status, headers, body } = await fetch(address, {
    headers: { authorization: `Bearer ${account.token}` },
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(15_000)]),
  })
  await body?.cancel()
  const location = headers.get('location')
  const redirectQuery = location && URL.canParse(location) ? new URL(location).searchParams : null
  const request_id = redirectQuery?.get('request')
  if (!request_id) {
    const why = redirectQuery?.get('error_description') ?? redirectQuery?.get('error') ?? `HTTP status ${status}`
    throw new Failure(`The service refused to start the installation: ${why}`)
  }
  const request = await account.client.getConsentRequest({ request_id })
  if (!request.can_approve) {
    throw new Failure('Only owners and admins of the workspace can install apps.', {
      code: 'FORBIDDEN',
      advice: `Request it with \`${commandName} apps install ${app.id} --request\`.`,
    })
  }
  await agree?.(request.scopes)
  const teams = teamIds.length > 0 ? { team_ids: teamIds } : { all_teams: true as const }
  return (await account.client.approveConsent({ request_id, ...teams })).redirect_to
}
