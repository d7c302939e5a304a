// Makes the example in this directory known to an instance, with your login, and writes what it needs to run:
// `.env`, and for an agent the tokens of its installation. An agent in production has managers do this in their
// browsers; see docs/guides/building-agents.md.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { BatonClient, createInstaller, fileTokens, isBatonError } from '@baton/sdk'

const { BATON_URL = 'http://localhost:3000', PORT = '4000' } = process.env
const { BATON_EMAIL = 'ada@demo.example', BATON_PASSWORD = 'baton-demo' } = process.env

/** Signed in, in `setUp`. */
let me
try {
  await setUp()
} catch (error) {
  if (!isBatonError(error)) throw error
  console.error(explained(error))
  process.exitCode = 1
}

async function setUp() {
  me = await signIn()
  if (existsSync('manifest.json')) await setUpAgent(read('manifest.json'))
  else await setUpWebhook(read('webhook.json'))
}

/** What was refused, and what to do about it. */
function explained({ code, message, details }) {
  const isAgent = existsSync('manifest.json')
  const problem = details[isAgent ? 'webhook.url' : 'url']
  if (problem) {
    const { url } = isAgent ? read('manifest.json').webhook : read('webhook.json')
    const instead = isAgent ? ' `npx baton dev` in a project made by `npx baton init` does without.' : ''
    return `The webhook address ${url} ${problem}. To allow your own machine, start Baton with BATON_WEBHOOK_ALLOW=localhost npm start.${instead}`
  }
  if (code === 'NETWORK_ERROR') return `Nothing answers at ${BATON_URL}. Start Baton, or name another in BATON_URL.`
  if (code === 'INVALID_CREDENTIALS') {
    return `${BATON_EMAIL} cannot sign in at ${BATON_URL}. Name a login of yours in BATON_EMAIL and BATON_PASSWORD.`
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
  // What a manager's browser does: ask, agree, and come back with the code and the cookie.
  const started = await installer.start(new Request(`http://localhost/install?secret=${installSecret}`))
  const cookie = started.headers.get('set-cookie')?.split(';')[0] ?? ''
  const answer = await installer.callback(new Request(await agree(started), { headers: { cookie } }))
  if (!answer.ok) throw new Error(await answer.text())
  save({ BATON_URL, CLIENT_ID: client_id, CLIENT_SECRET: client_secret, WEBHOOK_SECRET: webhook_secret, PORT })
  console.log(`${manifest.name} is installed. Start it with: npm start`)
}

/** Approves with our own login for all teams, and answers where the browser would be sent. */
async function agree(started) {
  const headers = { authorization: `Bearer ${me.token}`, 'x-workspace-id': me.workspaceId }
  const asked = await fetch(started.headers.get('location') ?? '', { headers, redirect: 'manual' })
  const request_id = new URL(asked.headers.get('location') ?? '').searchParams.get('request') ?? ''
  const { redirect_to } = await me.client.approveConsent({ request_id, all_teams: true })
  return redirect_to
}

async function setUpWebhook(wanted) {
  const { secret } = await me.client.createWebhook(wanted)
  save({ WEBHOOK_SECRET: secret, PORT })
  console.log(`${wanted.label} will be told. Start it with: npm start`)
}

/** A file of the example, for the port that it is to run on. */
function read(file) {
  return JSON.parse(readFileSync(file, 'utf8').replaceAll('localhost:4000', `localhost:${PORT}`))
}

function save(values) {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync('.env', lines.join(''), { mode: 0o600 })
}
