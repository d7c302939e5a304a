import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type AgentApp,
  type AgentAppManifest,
  type AgentHandlers,
  createAgent,
  createInstaller,
  fileTokens,
  type InstallationTokens,
  memoryTokens,
  type Session,
  type TokenStore,
} from '@baton/sdk'
import { freePort } from '../../server/test/service-process.ts'
import type { Person } from './company.ts'

export interface AgentOptions extends Partial<AgentHandlers> {
  name?: string
  scopes?: AgentAppManifest['oauth']['scopes']
  resourceTypes?: ('Issue' | 'Comment' | 'Project')[]
  /** Ids of the teams to install it for; all by default. */
  teamIds?: string[]
}

export interface Registered {
  app: AgentApp
  clientId: string
  clientSecret: string
  webhookSecret: string
  manifest: AgentAppManifest
}

/** Events in order, for a test to wait for. */
class Queue<T> {
  readonly #items: T[] = []
  #arrived: (() => void) | undefined

  push(item: T) {
    this.#items.push(item)
    this.#arrived?.()
  }

  async next(): Promise<T> {
    while (this.#items.length === 0) {
      await new Promise<void>((resolve) => {
        this.#arrived = resolve
      })
    }
    return this.#items.shift() as T
  }
}

/**
 * An agent on a loopback port of the test process that receives real signed deliveries. Without handlers it does nothing
 * on its own: the test takes its sessions and posts each activity.
 */
export class ScriptedAgent {
  readonly registered: Registered
  /** Null until it is installed. */
  tokens: InstallationTokens | null = null
  /** Errors in the agent. The test fails if there are any; remove the expected ones. */
  readonly errors: unknown[] = []
  readonly #server: Server
  readonly #store = memoryTokens()
  readonly #created = new Queue<Session>()
  readonly #prompted = new Queue<Session>()
  readonly #stopped = new Queue<Session>()

  private constructor(server: Server, registered: Registered, url: string, handlers: Partial<AgentHandlers>) {
    this.#server = server
    this.registered = registered
    const agent = createAgent({
      baseUrl: url,
      webhookSecret: registered.webhookSecret,
      clientId: registered.clientId,
      clientSecret: registered.clientSecret,
      store: this.#store,
      firstThought: false,
      onError: (error) => void this.errors.push(error),
      onCreated: (session) => this.#created.push(session),
      onPrompted: (session) => this.#prompted.push(session),
      onStop: (session) => this.#stopped.push(session),
      ...handlers,
    })
    server.on('request', agent.node)
  }

  static async register(person: Person, options: AgentOptions = {}): Promise<ScriptedAgent> {
    const { name = 'Robot', scopes = allScopes, resourceTypes = [], teamIds: _, ...handlers } = options
    const server = createServer().listen(0, 'localhost')
    await once(server, 'listening')
    const registered = await registerApp(person, {
      schemaVersion: '1.0.0',
      name,
      description: `${name} follows the test`,
      developer: { name: 'Robots Inc', url: 'https://robots.example.com' },
      oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes },
      webhook: { url: `http://localhost:${(server.address() as AddressInfo).port}/`, resource_types: resourceTypes },
    })
    return new ScriptedAgent(server, registered, person.api.rootUrl, handlers)
  }

  async install(manager: Person, teamIds?: string[]) {
    this.tokens = await installApp(manager, this.registered, this.#store, teamIds)
  }

  get name() {
    return this.registered.app.name
  }

  /** The id to delegate to and to mention. */
  get userId() {
    if (!this.tokens) throw new Error(`${this.name} is not installed`)
    return this.tokens.app_user_id
  }

  /** The next session opened by a delegation or mention. */
  session = () => this.#created.next()
  /** The next message of a person: `prompt` is its text, `selected` the chosen options. */
  prompt = () => this.#prompted.next()
  /** The next Stop; the agent can still send a final message. */
  stop = () => this.#stopped.next()

  async close() {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

const allScopes: AgentAppManifest['oauth']['scopes'] = ['read', 'write', 'app:assignable', 'app:mentionable']
const examples = fileURLToPath(new URL('../../examples/', import.meta.url))

/** One of the examples, running in its own process as users run it. */
export class ExampleAgent {
  readonly userId: string
  readonly name: string
  readonly #process: ChildProcess
  readonly #directory: string

  private constructor(process: ChildProcess, directory: string, userId: string, name: string) {
    this.#process = process
    this.#directory = directory
    this.userId = userId
    this.name = name
  }

  static async start(manager: Person, example: 'echo' | 'triage', teamIds?: string[]): Promise<ExampleAgent> {
    const port = await freePort()
    const text = readFileSync(join(examples, example, 'manifest.json'), 'utf8')
    const registered = await registerApp(manager, JSON.parse(text.replaceAll('localhost:4000', `localhost:${port}`)))
    const directory = mkdtempSync(join(tmpdir(), 'baton-example-'))
    const { app_user_id } = await installApp(manager, registered, fileTokens(directory), teamIds)
    const child = spawn(process.execPath, [join(examples, example, 'agent.js')], {
      env: {
        ...process.env,
        BATON_URL: manager.api.rootUrl,
        CLIENT_ID: registered.clientId,
        CLIENT_SECRET: registered.clientSecret,
        WEBHOOK_SECRET: registered.webhookSecret,
        PORT: String(port),
        TOKENS: directory,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const abandon = () => child.kill('SIGKILL')
    process.once('exit', abandon)
    child.once('close', () => process.off('exit', abandon))
    // It is ready when it prints its first output.
    await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'close').then(() => Promise.reject(new Error(`${example} ended instead of listening`))),
    ])
    return new ExampleAgent(child, directory, app_user_id, registered.app.name)
  }

  async close() {
    const ended = once(this.#process, 'close')
    if (this.#process.exitCode === null) {
      this.#process.kill('SIGTERM')
      await ended
    }
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

export async function registerApp(person: Person, manifest: AgentAppManifest): Promise<Registered> {
  const { app, client_id, client_secret, webhook_secret } = await person.api.createAgentApp(manifest)
  return { app, clientId: client_id, clientSecret: client_secret, webhookSecret: webhook_secret, manifest }
}

/** Runs the whole OAuth flow; the manager approves over the API. */
async function installApp(manager: Person, registered: Registered, store: TokenStore, teamIds?: string[]) {
  let stored: InstallationTokens | undefined
  const { installer, secret } = installerOf(manager, registered, {
    ...store,
    set: async (id, tokens) => {
      stored = tokens
      await store.set(id, tokens)
    },
  })
  const started = await installer.start(new Request(`http://localhost/install?secret=${secret}`))
  const cookie = started.headers.get('set-cookie')?.split(';')[0] ?? ''
  const request_id = await consentRequest(manager, started.headers.get('location') ?? '')
  const { redirect_to } = await manager.api.approveConsent({
    request_id,
    ...(teamIds ? { team_ids: teamIds } : { all_teams: true as const }),
  })
  const answer = await installer.callback(new Request(redirect_to, { headers: { cookie } }))
  if (!answer.ok || !stored) throw new Error(`${registered.app.name} was not installed: ${await answer.text()}`)
  return stored
}

/** The /oauth/authorize URL that a browser opens to install the app. */
export async function installUrl(person: Person, registered: Registered): Promise<string> {
  const { installer, secret } = installerOf(person, registered, memoryTokens())
  const started = await installer.start(new Request(`http://localhost/install?secret=${secret}`))
  return started.headers.get('location') ?? ''
}

function installerOf(person: Person, { manifest, clientId, clientSecret }: Registered, store: TokenStore) {
  const secret = 'let-me-in'
  const [redirectUri = ''] = manifest.oauth.redirect_uris
  const installer = createInstaller({
    baseUrl: person.api.rootUrl,
    clientId,
    clientSecret,
    redirectUri,
    scopes: manifest.oauth.scopes ?? [],
    installSecret: secret,
    store,
  })
  return { installer, secret }
}

/** The id of the request shown at /oauth/consent. */
async function consentRequest({ token, workspaceId }: Person, address: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId }
  const asked = await fetch(address, { headers, redirect: 'manual' })
  return new URL(asked.headers.get('location') ?? '').searchParams.get('request') ?? ''
}
