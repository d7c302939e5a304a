import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  api,
  described,
  exampleIds,
  exampleOf,
  exampleOtherId,
  listenUrl,
  type Operation,
  type RouteName,
  sectionsOf,
} from '@baton/protocol'
import { BatonClient } from '@baton/sdk'
import { expect, onTestFinished } from 'vitest'
import { A2aServer } from '../../test/a2a-server.ts'
import { Authenticator } from '../../test/authenticator.ts'
import { accepted, makeScene, waitingReview } from '../../test/calls.ts'
import { connect } from '../../test/git.ts'
import { type InstalledApp, type TestApp, type TestPerson, test, within } from '../../test/harness.ts'
import { importAll, linearCsv, linearRow, preview, upload } from '../../test/imports.ts'
import { ssoSettings, type TestIssuer } from '../../test/issuer.ts'
import { installedLinearApp } from '../../test/linear.ts'
import { Listener, listenable } from '../../test/listener.ts'
import { askConsent, consent, redirectUri, token } from '../../test/oauth.ts'
import { startIssuer } from '../../test/sso.ts'
import { createLink } from '../login/links.ts'
import { addIdentity } from '../login/methods.ts'
import { transact } from '../unit-of-work.ts'
import { curlSample, sampleSetup, sampleUrl, sdkSample } from './samples.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))
const hasCurl = spawnSync('curl', ['--version']).status === 0 && spawnSync('bash', ['--version']).status === 0

/** Packages exist only in a build; server/src/packages.process.test.ts installs them. */
const operations = (Object.entries<Operation>(api) as [RouteName, Operation][]).filter(
  ([name]) => name !== 'getPackage',
)

/** What ends something comes last: the session, then deletions, of later resources first, then the login. */
const rank = (name: RouteName, { route }: Operation) =>
  Math.max(1 + ['stopAgentSession', '', 'changePassword', 'signOut'].indexOf(name), route.method === 'DELETE' ? 2 : 0)
const inOrder = [0, 1, 2, 3, 4].flatMap((wanted) => {
  const ranked = operations.filter((named) => rank(...named) === wanted)
  return wanted === 2 ? ranked.reverse() : ranked
})

interface Prepared {
  token: string
  workspaceId: string
  /** The sample with real values in place of the examples. */
  text: string
}

type Scene = Awaited<ReturnType<typeof makeScene>>
type Credential = { id: string; response: Record<string, unknown> }
type Registered = { client_id: string; client_secret: string; app: { id: string } }

/** A company with one item of each kind, for samples. */
class Company {
  readonly #app: TestApp
  readonly #scene: Scene
  /** Not installed. */
  readonly #registered: Registered
  readonly #deliveryId: string

  readonly #issuer: TestIssuer

  private constructor(app: TestApp, issuer: TestIssuer, scene: Scene, registered: Registered, deliveryId: string) {
    this.#app = app
    this.#issuer = issuer
    this.#scene = scene
    this.#registered = registered
    this.#deliveryId = deliveryId
  }

  static async of(app: TestApp, issuer: TestIssuer) {
    issuer.now = () => app.clock.now()
    const scene = await makeScene(app)
    const registered = await register(scene.owner, 'Sampler')
    const path = `/agent-apps/${registered.app.id}`
    await scene.owner.post(`${path}/webhook/test`)
    const { body } = await scene.owner.get(`${path}/deliveries`)
    return new Company(app, issuer, scene, registered, body.data[0].id)
  }

  async prepare(name: RouteName, { route }: Operation, sample: string): Promise<Prepared> {
    const { owner, robot, ids } = this.#scene
    const real: Record<string, string> = { wsp: this.#scene.id }
    for (const [param, value] of Object.entries(ids)) {
      // The scene's own app has an address that cannot be reached.
      if (!['agent_id', 'app_id', 'request_id'].includes(param)) real[value.split('_')[0] ?? ''] = value
    }
    const { caller = owner, token, values = {}, texts = {}, agent = robot, ...rest } = await this.#special(name)
    const { workspaceId = this.#scene.id } = rest
    Object.assign(real, { app: this.#registered.app.id, cli: this.#registered.client_id }, values)
    let text = sample
      .replaceAll(sampleUrl, this.#app.rootUrl)
      // Tests send nothing to other hosts.
      .replaceAll('https://robots.example.com/webhook', 'http://localhost:9')
    for (const [example, value] of Object.entries(texts)) text = text.replaceAll(example, value)
    text = text.replaceAll(exampleIds, (example, prefix: string) => real[prefix] ?? example)
    const asApp = route.caller === 'app' || name === 'postActivity'
    const ofApp = route.linear && token ? token : agent.token
    return { text, workspaceId, token: asApp ? ofApp : caller.token }
  }

  /** Operations that need another caller or other values. */
  async #special(name: RouteName): Promise<{
    caller?: TestPerson
    /** Of Linear's API. */
    token?: string
    values?: Record<string, string>
    texts?: Record<string, string>
    agent?: InstalledApp
    /** In place of that of the scene, which the other samples change. */
    workspaceId?: string
  }> {
    const { owner, ids, robot } = this.#scene
    const { client_id: clientId } = this.#registered
    switch (name) {
      case 'updatePersonalAgent':
      case 'deletePersonalAgent':
        return { values: { usr: ids.agent_id as string } }
      case 'listAppDeliveries':
      case 'getAppDelivery':
      case 'redeliverToApp':
        return { values: { dlv: this.#deliveryId } }
      case 'startDeletion':
      case 'cancelDeletion': {
        const { body } = await owner.post('/workspaces', { name: 'Acme' })
        if (name === 'cancelDeletion') {
          await within(owner, body.id).post('/workspaces/me/deletion', { name: 'Acme' })
        }
        return { workspaceId: body.id }
      }
      case 'finishWebhookRotation':
        await owner.post(`/webhooks/${ids.webhook_id}/secret`, { overlap_hours: 1 })
        return {}
      case 'finishAppRotation':
        await owner.post(`/agent-apps/${this.#registered.app.id}/webhook-secret`, { overlap_hours: 1 })
        return {}
      case 'startWebhookReplay':
        await owner.post(`/webhooks/${ids.webhook_id}/enable`)
        return {}
      case 'startAppReplay':
        await owner.post(`/agent-apps/${this.#registered.app.id}/webhook/enable`)
        return {}
      case 'getAppReplay':
      case 'stopAppReplay': {
        const path = `/agent-apps/${this.#registered.app.id}`
        await owner.post(`${path}/webhook/enable`)
        const { body } = await owner.post(`${path}/replays`, { since: '2100-01-01T00:00:00Z' })
        return { values: { rpl: body.id } }
      }
      case 'getConsentRequest':
      case 'approveConsent':
      case 'denyConsent':
        return { values: { req: await askConsent(owner, clientId, { scope: 'read' }) } }
      case 'previewInvitation':
      case 'acceptInvitation': {
        const caller = await this.#app.person()
        const { body } = await owner.post('/workspaces/me/invitations', { email: caller.user.email, role: 'member' })
        return { caller, texts: { '5f1c2d3e4b6a79808f9e': body.token } }
      }
      case 'issueToken':
      case 'revokeToken': {
        const other = await register(owner, `App of ${name}`)
        const { code, verifier } = await consent(owner, other.client_id, { all_teams: true }, { scope: 'read' })
        const secret = { client_id: other.client_id, client_secret: other.client_secret }
        const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
        const { body } = await token(this.#app, { ...form, ...secret })
        const texts = {
          prt_5f1c2d3e4b6a79808f9e: body.refresh_token,
          svc_sk_5f1c2d3e4b6a79808f9e: other.client_secret,
        }
        return { values: { cli: other.client_id }, texts }
      }
      case 'linearGraphql':
      case 'linearAuthorize':
      case 'linearToken':
      case 'linearRevoke': {
        const robot = await installedLinearApp(this.#app, owner)
        const texts = {
          lin_oauth_5f1c2d3e4b6a79808f9e: robot.token,
          svc_sk_5f1c2d3e4b6a79808f9e: robot.client_secret,
        }
        return { token: robot.token, values: { cli: robot.client_id }, texts }
      }
      case 'inspectA2aCard':
      case 'createA2aApp':
      case 'refreshA2aCard':
      case 'setA2aCredential':
      case 'listA2aTasks': {
        const server = await A2aServer.start()
        onTestFinished(() => server.stop())
        const texts = { 'https://agents.example.com': server.origin }
        if (name === 'inspectA2aCard' || name === 'createA2aApp') return { texts }
        const wanted = { card_url: server.origin, scopes: ['app:assignable'], all_teams: true }
        const { body } = await owner.post('/agent-apps/a2a', wanted)
        return { values: { app: body.app.id } }
      }
      case 'receiveGitHook': {
        const { id, secret } = await connect(owner, { kind: 'gitlab' })
        return { values: { gcn: id }, texts: { whsec_5f1c2d3e4b6a79808f9e: secret } }
      }
      case 'answerAttempt': {
        const app = await listenable(this.#app, owner, 'http://localhost:9')
        const listener = await Listener.of(owner, app.id, { takeOver: true })
        await app.issue()
        const delivered = this.#app.deliver()
        onTestFinished(() => delivered)
        return { values: { app: app.id, att: (await listener.attempt()).attempt_id } }
      }
      case 'listenAsApp':
        return { agent: await this.#app.installed(owner, { webhook: listenUrl }) }
      case 'answerAsApp': {
        const agent = await this.#app.installed(owner, { webhook: listenUrl })
        const listener = await Listener.asApp(agent, owner)
        const pinged = owner.post(`/agent-apps/${agent.app.id}/webhook/test`)
        onTestFinished(async () => void (await pinged))
        return { agent, values: { att: (await listener.attempt()).attempt_id } }
      }
      case 'decideSuggestions': {
        const { body: session } = await robot.post('/agent-sessions', { issue_id: ids.issue_id })
        const { body } = await robot.post(`/agent-sessions/${session.id}/suggestions`, accepted.suggestChanges)
        return { values: { sug: body.data[0].id } }
      }
      case 'acceptReview':
      case 'sendBackReview':
        return { values: { rev: await waitingReview(this.#app, this.#scene, ids.team_id as string) } }
      case 'getSessionChanges':
        await robot.put(`/agent-sessions/${ids.session_id}/changes`, accepted.setSessionChanges)
        return {}
      case 'mergeLabel': {
        const [from, into] = await Promise.all(['One', 'Two'].map((name) => owner.post('/labels', { name })))
        return { values: { lbl: from?.body.id }, texts: { [exampleOtherId('lbl')]: into?.body.id } }
      }
      case 'deleteTeam':
        return { values: { team: (await owner.post('/teams', { name: 'Old', key: 'OLD' })).body.id } }
      case 'markDuplicate': {
        const { body: original } = await owner.post('/issues', { title: 'The same', team_id: ids.team_id })
        return { texts: { [exampleOtherId('iss')]: original.id } }
      }
      case 'installApp':
        return { values: { app: (await register(owner, 'Installed')).app.id } }
      case 'createExportLink':
        await this.#app.workOnArchives()
        return {}
      case 'downloadExport': {
        await this.#app.workOnArchives()
        const { body } = await owner.post(`/exports/${ids.export_id}/link`)
        return { texts: { dXNyXzAxazliM241: body.url.split('/').at(-1) } }
      }
      case 'createRestore':
        return { caller: await this.#app.person(), texts: { 'acme.tar.gz': 'package.json' } }
      case 'addImportFile':
        return { texts: { 'issues.csv': 'package.json' } }
      case 'readImport':
        return { values: { imp: await upload(owner, 'linear', linearCsv([linearRow()])) } }
      case 'startImport': {
        // A running import would keep others from starting.
        const { body } = await owner.post('/workspaces', { name: 'Acme' })
        const there = within(owner, body.id)
        const id = await upload(there, 'linear', linearCsv([linearRow()]))
        await preview(this.#app, there, id)
        return { workspaceId: body.id, values: { imp: id } }
      }
      case 'assignPlaceholder': {
        await importAll(this.#app, owner, 'linear', linearCsv([linearRow({ Creator: `Grace ${name}` })]))
        const { body } = await owner.get('/placeholders')
        return { values: { usr: body.data[0].id }, texts: { [exampleOtherId('usr')]: owner.user.id } }
      }
      case 'uploadFile':
      case 'uploadSessionFile':
        return { texts: { 'door.png': 'package.json' } }
      case 'openFileLink': {
        const { body } = await owner.post(`/files/${ids.file_id}/link`)
        return { texts: { dXNyXzAxazliM241: body.url.split('/').at(-1) } }
      }
      case 'unsubscribe':
        return { texts: { dXNyXzAxazliM241: ids.token as string } }
      case 'deleteTokenOfWorkspace': {
        const { body } = await owner.post('/personal-tokens', { name: 'Other', scopes: ['read'] })
        return { values: { pat: body.personal_token.id } }
      }
      case 'changePassword':
      case 'reauthenticate':
        return { texts: { 'correct horse battery': owner.password } }
      case 'setPassword':
      case 'changeEmail':
      case 'endOtherLogins':
        return { caller: await this.#app.person(), texts: { 'ada@example.com': `${name}-${Date.now()}@example.com` } }
      case 'removePassword': {
        const caller = await this.#app.person()
        await addIdentity(this.#app.ctx.db, this.#app.clock.now(), {
          userId: caller.user.id,
          providerId: 'company',
          issuer: 'https://company.example.com',
          subject: caller.user.id,
          email: null,
        })
        return { caller }
      }
      case 'deleteAccount':
      case 'requestPasswordReset':
      case 'requestVerification':
        return { caller: await this.#app.person() }
      case 'confirmPasswordReset':
      case 'confirmEmail':
      case 'undoEmailChange':
        return this.#link(name)
      case 'endLogin': {
        const caller = await this.#app.person()
        const credentials = { email: caller.user.email, password: caller.password }
        await this.#app.anonymous.post('/auth/sign-in', credentials)
        const { body } = await caller.get('/auth/logins')
        return { caller, values: { lgn: body.data.find(({ current }: { current: boolean }) => !current).id } }
      }
      case 'ssoBackChannel': {
        const claims = this.#issuer.logoutClaims({ sub: name })
        return { texts: { 'eyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl': await this.#issuer.sign(claims) } }
      }
      case 'createPasskey':
      case 'signInWithPasskey':
      case 'reauthWithPasskey':
        return this.#passkey(name)
      case 'exchangeCliLogin': {
        const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
        const { body } = await owner.post('/auth/cli-logins', { challenge, name: 'baton' })
        return { texts: { '5f1c2d3e4b6a79808f9e': body.code } }
      }
      default:
        return {}
    }
  }

  /** A person, and what the authenticator answers in place of the example. */
  async #passkey(name: 'createPasskey' | 'signInWithPasskey' | 'reauthWithPasskey') {
    const caller = await this.#app.person()
    const device = new Authenticator(this.#app)
    const isNew = name === 'createPasskey'
    if (!isNew) await device.register(caller)
    const { body: options } = await caller.post(isNew ? '/auth/passkeys/options' : '/auth/passkey-sign-in/options')
    const { id, response } = isNew ? device.create(options) : device.use(options)
    const example = exampleOf(described(api[name].body, sectionsOf(name, api[name]))) as { credential: Credential }
    const texts: Record<string, string> = { [example.credential.id]: id }
    for (const [field, text] of Object.entries(example.credential.response)) {
      const real = (response as unknown as Record<string, unknown>)[field]
      if (typeof text === 'string' && typeof real === 'string') texts[text] = real
    }
    return { caller, texts }
  }

  /** A person, and the token of a link that was mailed to them. */
  async #link(name: 'confirmPasswordReset' | 'confirmEmail' | 'undoEmailChange') {
    const caller = await this.#app.person()
    const { id: userId, email } = caller.user
    const kind = ({ confirmPasswordReset: 'reset', confirmEmail: 'verify', undoEmailChange: 'undo' } as const)[name]
    const { token } = await transact(this.#app.ctx, null, (unit) => createLink(unit, { userId, kind, email }))
    return { caller, texts: { '5f1c2d3e4b6a79808f9e': token } }
  }
}

/** One shell for all samples, because each process that a large test worker starts costs a tenth of a second. */
class SampleShell {
  readonly #bash = spawn('bash', ['-c', `while IFS= read -r -d '' script; do (eval "$script"); printf '\\0'; done`])
  #stdout = ''
  #stderr = ''

  constructor() {
    this.#bash.stdout.on('data', (text) => {
      this.#stdout += text
    })
    this.#bash.stderr.on('data', (text) => {
      this.#stderr += text
    })
  }

  /** Runs the script in a subshell. */
  async run(script: string) {
    this.#bash.stdin.write(`${script}\0`)
    while (!this.#stdout.endsWith('\0')) await once(this.#bash.stdout, 'data')
    const printed = { stdout: this.#stdout.slice(0, -1), stderr: this.#stderr }
    this.#stdout = this.#stderr = ''
    return printed
  }

  async end() {
    this.#bash.stdin.end()
    await once(this.#bash, 'close')
  }
}

async function register(owner: TestPerson, name: string): Promise<Registered> {
  const { body } = await owner.post('/agent-apps', {
    schemaVersion: '1.0.0',
    name,
    developer: { name: 'Robots Inc' },
    oauth: { redirect_uris: [redirectUri], scopes: ['read'] },
    webhook: { url: 'http://localhost:9' },
  })
  return body
}

test.skipIf(!hasCurl)(
  'every curl sample succeeds',
  async ({ startApp, smtp }) => {
    const issuer = await startIssuer()
    const app = await startApp({ ...smtp.env, ...ssoSettings({ issuer }) })
    const company = await Company.of(app, issuer)
    const shell = new SampleShell()
    onTestFinished(() => shell.end())
    const results: Record<string, string> = {}
    for (const [name, operation] of inOrder) {
      const { text, token, workspaceId } = await company.prepare(name, operation, curlSample(name, operation))
      const seconds = operation.route.stream ? 1 : 20
      const status = `curl() { command curl -sS -o /dev/null -w '%{http_code}' --max-time ${seconds} "$@" || true; }`
      const variables = `export BATON_TOKEN='${token}' BATON_WORKSPACE='${workspaceId}'`
      const { stdout, stderr } = await shell.run(`${status}\n${variables}\n${text}`)
      const expected = Object.keys(operation.returns).filter((one) => Number(one) < 400)
      if (!expected.includes(stdout)) results[name] = `${stdout} ${stderr}\n${text}`
    }
    expect(results).toEqual({})
  },
  180_000,
)

test('every SDK sample succeeds', async ({ startApp, smtp }) => {
  const issuer = await startIssuer()
  const app = await startApp({ ...smtp.env, ...ssoSettings({ issuer }) })
  const company = await Company.of(app, issuer)
  const results: Record<string, string> = {}
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor
  for (const [name, operation] of inOrder) {
    const sample = sdkSample(name, operation)
    if (!sample) continue
    const { text, token, workspaceId } = await company.prepare(name, operation, sample)
    const client = new BatonClient({ baseUrl: app.rootUrl, token, workspaceId, retries: { attempts: 1 } })
    await AsyncFunction(
      'client',
      'BatonClient',
      text,
    )(client, BatonClient).catch((error: unknown) => {
      results[name] = `${error}\n${text}`
    })
  }
  expect(results).toEqual({})
}, 180_000)

test('every SDK sample compiles in strict mode', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'samples-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const samples = operations.flatMap(([name, operation]) => {
    const sample = sdkSample(name, operation)
    return sample ? [`export async function ${name}() {\n${sample}\n}`] : []
  })
  expect(samples.length).toBeGreaterThan(100)
  await writeFile(join(directory, 'samples.mts'), [sampleSetup.sdk, ...samples].join('\n'))
  const compilerOptions = {
    noEmit: true,
    composite: false,
    allowImportingTsExtensions: true,
    incremental: false,
    customConditions: ['source'],
    noUnusedLocals: false,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    paths: { '@baton/sdk': [join(root, 'sdk/src/index.ts')] },
  }
  const config = { extends: join(root, 'tsconfig.base.json'), compilerOptions, files: ['samples.mts'] }
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(config))
  const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.']
  const { stdout } = await run(process.execPath, tsc, { cwd: directory }).catch((error: { stdout: string }) => error)
  expect(stdout).toBe('')
})
