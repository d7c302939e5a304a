// Registers the example in this directory with your login and writes what it needs to run: `.env`, and for an agent
// the tokens of its installation. In production, managers install an agent in their browsers; see
// docs/guides/building-agents.md.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { BatonClient, createInstaller, fileTokens, isBatonError } from '@baton/sdk'

const { BATON_URL = 'http://localhost:3000', PORT = '4000' } = process.env
const { BATON_EMAIL = 'ada@demo.example', BATON_PASSWORD = 'baton-demo' } = process.env

/** Set by `setUp`. */
let me
try {
  await setUp()
} catch (error) {
  if (!isBatonError(error)) throw error
  console.error(explain(error))
  process.exitCode = 1
}

async function setUp() {
  me = await signIn()
  if (existsSync('manifest.json')) await setUpAgent(read('manifest.json'))
  else await setUpWebhook(read('webhook.json'))
}

/** The error in one line, with advice. */
function explain({ code, message, details }) {
  const isAgent = existsSync('manifest.json')
  const problem = details[isAgent ? 'webhook.url' : 'url']
  if (problem) {
    const { url } = isAgent ? read('manifest.json').webhook : read('webhook.json')
    const alternative = isAgent ? ' `npx baton dev`, in a project created by `baton init`, does not need this.' : ''
    return `The webhook URL ${url} ${problem}. To allow your own machine, start Baton with BATON_WEBHOOK_ALLOW=localhost npm start.${alternative}`
  }
  if (code === 'NETWORK_ERROR') return `No service responds at ${BATON_URL}. Start Baton, or set BATON_URL to another.`
  if (code === 'INVALID_CREDENTIALS') {
    return `${BATON_EMAIL} cannot sign in at ${BATON_URL}. Set BATON_EMAIL and BATON_PASSWORD to your login.`
  }
  return [message, ...Object.entries(details).map(([name, value]) => `${name} ${value}`)].join(' ')
}

async function signIn() {
  const { token } = await new BatonClient({ baseUrl: BATON_URL }).signIn({
    email: BATON_EMAIL,
    password: BATON_PASSWORD,
  })
  const { workspaces } = await new BatonClient({ baseUrl: BATON_URL, token }).getMe()
  const [workspace] = workspaces
  if (!workspace) throw new Error(`${BATON_EMAIL} has no workspace.`)
  return {
    token,
    workspaceId: workspace.id,
    client: new BatonClient({ baseUrl: BATON_URL, token, workspaceId: workspace.id }),
  }
}

async function setUpAgent(manifest) {
  const { client_id, client_secret, webhook_secret } = await me.client.createAgentApp(manifest)
  const installSecret = randomBytes(24).toString('base64url')
  const [redirectUri] = manifest.oauth.redirect_uris
  const installer = createInstaller({
    baseUrl: BATON_URL,
    clientId: client_id,
    clientSecret: client_secret,
    redirectUri,
    scopes: manifest.oauth.scopes,
    installSecret,
    store: fileTokens('./tokens'),
  })
  // Does what a manager's browser does: start, approve, and return with the code and the cookie.
  const started = await installer.start(new Request(`http://localhost/install?secret=${installSecret}`))
  const cookie = started.headers.get('set-cookie')?.split(';')[0] ?? ''
  const answer = await installer.callback(new Request(await approve(started), { headers: { cookie } }))
  if (!answer.ok) throw new Error(await answer.text())
  save({ BATON_URL, CLIENT_ID: client_id, CLIENT_SECRET: client_secret, WEBHOOK_SECRET: webhook_secret, PORT })
  console.log(`${manifest.name} is installed. Start it with: npm start`)
}

/** Approves for all teams with your login, and returns the redirect URL. */
async function approve(started) {
  const headers = { authorization: `Bearer ${me.token}`, 'x-workspace-id': me.workspaceId }
  const consentPage = await fetch(started.headers.get('location') ?? '', { headers, redirect: 'manual' })
  const request_id = new URL(consentPage.headers.get('location') ?? '').searchParams.get('request') ?? ''
  const { redirect_to } = await me.client.approveConsent({ request_id, all_teams: true })
  return redirect_to
}

async function setUpWebhook(webhook) {
  const { secret } = await me.client.createWebhook(webhook)
  save({ WEBHOOK_SECRET: secret, PORT })
  console.log(`The webhook ${webhook.label} is created. Start the receiver with: npm start`)
}

/** Reads a file of the example and replaces the port. */
function read(file) {
  return JSON.parse(readFileSync(file, 'utf8').replaceAll('localhost:4000', `localhost:${PORT}`))
}

function save(values) {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync('.env', lines.join(''), { mode: 0o600 })
}
