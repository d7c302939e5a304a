import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { type AgentApp, BatonClient, envTokens, fileTokens, isBatonError } from '@baton/sdk'
import { type Account, currentAccount } from '../account.ts'
import { installationOf, listenUrl } from '../apps.ts'
import { type Call, text } from '../command.ts'
import { readEnv, type Settings } from '../env-file.ts'
import { explain, Failure } from '../failure.ts'
import { commandName } from '../origin.ts'
import { relay } from '../relay.ts'
import { clientSecretWorks, isSignedWith, wrongSecret } from '../secrets.ts'
import { version } from '../version.ts'

export interface SetupFinding {
  name: string
  /** Null if it could not be checked. */
  ok: boolean | null
  detail: string
  advice: string | null
}

const right = (name: string, detail: string): SetupFinding => ({ name, ok: true, detail, advice: null })
const wrong = (name: string, detail: string, advice: string | null): SetupFinding => ({
  name,
  ok: false,
  detail,
  advice,
})
const unknown = (name: string, detail: string): SetupFinding => ({ name, ok: null, detail, advice: null })

/** Checks what `dev` and an agent need, from the login to the tokens. */
export async function* checkSetup(call: Call): AsyncGenerator<SetupFinding> {
  const file = text(call, 'env') ?? '.env'
  const settings = await readEnv(file)
  const { finding, account } = await checkLogin(call, settings)
  yield finding
  if (!account) return
  yield await checkClock(account)
  yield await checkVersion(account)
  const app = await findOwnApp(account, settings)
  if ('ok' in app) return yield app
  yield right('app', `${app.name} (${app.id})`)
  yield await checkClientSecret(account, app, settings, file)
  yield await checkWebhook(call, account, app, settings, file)
  yield* checkInstallation(account, app, settings)
}

async function checkLogin(call: Call, { BATON_URL }: Settings): Promise<{ finding: SetupFinding; account?: Account }> {
  try {
    const account = await currentAccount(BATON_URL ? { ...call, values: { ...call.values, url: BATON_URL } } : call)
    await account.client.getMe()
    return { finding: right('login', `${account.email} at ${account.url}, in ${account.workspace.name}`), account }
  } catch (error) {
    if (!(error instanceof Failure) && !isBatonError(error)) throw error
    const { message, advice } = explain(error, `${commandName} doctor`)
    return { finding: wrong('login', message, advice) }
  }
}

/** Receivers refuse a delivery whose time differs by more than a minute; half of it is left for the delivery itself. */
const clockToleranceMs = 30_000

async function checkClock({ url }: Account): Promise<SetupFinding> {
  const before = Date.now()
  const response = await fetch(`${url}/healthz`, { redirect: 'manual', signal: AbortSignal.timeout(15_000) })
  await response.body?.cancel()
  const date = Date.parse(response.headers.get('date') ?? '')
  return judgeClock(date, (before + Date.now()) / 2)
}

export function judgeClock(serviceMs: number, ownMs: number): SetupFinding {
  if (Number.isNaN(serviceMs)) return unknown('clock', 'the service sends no time')
  const differenceMs = ownMs - serviceMs
  const seconds = Math.round(Math.abs(differenceMs) / 1000)
  if (Math.abs(differenceMs) <= clockToleranceMs)
    return right('clock', `differs from that of the service by ${seconds} s`)
  const detail = `this machine is ${seconds} s ${differenceMs > 0 ? 'ahead of' : 'behind'} the service`
  return wrong('clock', detail, 'Set the clock: an agent refuses deliveries whose time differs by more than 60 s.')
}

async function checkVersion({ client, url }: Account): Promise<SetupFinding> {
  const instance = await client.getInstance()
  if (instance.version === version) return right('version', `${version}, as the service`)
  const advice = `In a project, run \`npm update\`. Elsewhere, run \`npx ${url}/packages/cli.tgz\`.`
  return wrong('version', `this command is ${version}, the service ${instance.version}`, advice)
}

/** The app of this directory, or why there is none. */
async function findOwnApp({ client, workspace }: Account, { APP_ID }: Settings): Promise<AgentApp | SetupFinding> {
  if (!APP_ID) return unknown('app', 'no agent in this directory; run this in the directory of one to check it')
  try {
    return await client.getAgentApp({ app_id: APP_ID })
  } catch (error) {
    if (!isBatonError(error, 'RESOURCE_NOT_FOUND')) throw error
    return wrong(
      'app',
      `${APP_ID} does not exist in ${workspace.name}`,
      `Run \`${commandName} dev\` to register it again, or log in to the workspace that has it.`,
    )
  }
}

async function checkClientSecret({ url }: Account, app: AgentApp, settings: Settings, file: string) {
  const { CLIENT_SECRET } = settings
  const name = 'client secret'
  if (CLIENT_SECRET && (await clientSecretWorks(url, app.client_id, CLIENT_SECRET))) return right(name, 'accepted')
  return wrong(name, wrongSecret('client', app, file), null)
}

async function checkWebhook(call: Call, account: Account, app: AgentApp, settings: Settings, file: string) {
  const name = 'webhook secret'
  const { WEBHOOK_SECRET } = settings
  if (!WEBHOOK_SECRET) return wrong(name, wrongSecret('webhook', app, file), null)
  if (!app.webhook.url) return unknown(name, 'the app has no webhook')
  try {
    if (app.webhook.url === listenUrl && !app.listener) {
      const isRight = await ownPingIsSignedWith(WEBHOOK_SECRET, call, account, app)
      if (isRight === null) return unknown(name, 'the ping did not arrive')
      return isRight ? right(name, 'matches a signed ping') : wrong(name, wrongSecret('webhook', app, file), null)
    }
    const { ok, status, reason } = await account.client.testAppWebhook({ app_id: app.id })
    if (ok) return right(name, `the agent answered ${status} to a signed ping`)
    if (status === 401) return wrong(name, wrongSecret('webhook', app, file), null)
    const detail = `the agent did not accept a ping: ${status ?? reason}`
    return wrong(
      'webhook',
      detail,
      `See \`${commandName} deliveries\`, or test it with \`${commandName} doctor --url URL\`.`,
    )
  } catch (error) {
    if (!isBatonError(error) && !(error instanceof Failure)) throw error
    return unknown(name, explain(error, `${commandName} doctor`).message)
  }
}

/** Receives one ping in place of the agent, which is not running. Null if it did not arrive. */
async function ownPingIsSignedWith(secret: string, call: Call, account: Account, app: AgentApp) {
  let isRight: boolean | null = null
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const isPing = request.headers['svc-event'] === 'Ping'
    if (isPing) isRight = isSignedWith(secret, request.headers, body)
    // Other deliveries are refused, so that they are sent again when the agent runs.
    response.writeHead(isPing ? 200 : 503).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const ended = new AbortController()
  const end = () => ended.abort()
  const ping = () => account.client.testAppWebhook({ app_id: app.id }).then(end, end)
  const forwardTo = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const signal = AbortSignal.any([call.signal, ended.signal])
  const on = { ready: ping, lost: end, forwarded: () => {}, ignored: () => {} }
  try {
    await relay({ account, appId: app.id, forwardTo, takeOver: false, signal, on })
    call.signal.throwIfAborted()
    return isRight as boolean | null
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

async function* checkInstallation(account: Account, app: AgentApp, settings: Settings): AsyncGenerator<SetupFinding> {
  const again = `Run \`${commandName} dev\`, or \`${commandName} apps install\`.`
  const installation = await installationOf(account, app.id)
  if (!installation)
    return yield wrong('installation', `${app.name} is not installed in ${account.workspace.name}`, again)
  const missing = app.requested_scopes.filter((scope) => !installation.scopes.includes(scope))
  const teams = installation.all_teams ? 'all teams' : `${installation.team_ids.length} teams`
  yield missing.length > 0
    ? wrong('installation', `it lacks the scopes ${missing.join(', ')}`, again)
    : right('installation', `${installation.id}, for ${teams}`)
  yield await checkTokens(account, installation.id, settings, again)
}

/** Refreshes nothing: a running agent may be doing that, and a refresh token works once. */
async function checkTokens({ url }: Account, installationId: string, settings: Settings, again: string) {
  const directory = settings.TOKENS ?? './tokens'
  const tokens = await envTokens(fileTokens(directory), settings)
    .get(installationId)
    .catch((error: Error) => wrong('tokens', error.message, again))
  if (!tokens) return wrong('tokens', `${directory} has none for ${installationId}`, again)
  if ('ok' in tokens) return tokens
  if (tokens.expires_at <= Date.now()) {
    return right('tokens', `the access token has expired; the agent gets a new one at its next call`)
  }
  try {
    const { access_token, workspace_id } = tokens
    await new BatonClient({ baseUrl: url, token: access_token, workspaceId: workspace_id }).getMe()
    return right('tokens', `accepted, until ${new Date(tokens.expires_at).toISOString()}`)
  } catch (error) {
    if (!isBatonError(error) || error.status !== 401) throw error
    return wrong('tokens', `the service refuses the access token: ${error.code}`, again)
  }
}
