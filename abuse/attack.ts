import type { RouteName } from '@baton/protocol'
import type { Receiver } from '../server/test/receiver.ts'
import type { ServiceProcess } from '../server/test/service-process.ts'
import { type Caller, readersOf } from './callers.ts'
import { type Group, groups } from './canaries.ts'
import { addressed, type Document, type Draft, Requests } from './requests.ts'
import { cpuOf } from './service.ts'
import { Watcher } from './watcher.ts'
import { type Answered, type Sent, Wire } from './wire.ts'
import { World } from './world.ts'

const concurrency = 8

interface Count {
  sent: number
  accepted: number
  /** Number of refusals by code. */
  refusals: Map<string, number>
}

/** Sends requests, checks all responses and side effects, and collects the problems. */
export class Attack {
  readonly problems: string[] = []
  readonly #service: ServiceProcess
  readonly #world: World
  readonly #receiver: Receiver
  readonly #requests: Requests
  readonly #wire: Wire
  readonly #watchers: Watcher[]
  readonly #counts = new Map<RouteName, Count>()
  readonly #statuses = new Map<number, number>()
  #delivered = 0
  #took = { seconds: 0, service: 0, own: 0 }
  /** Length of the log before the run. */
  #logged = 0

  private constructor(
    service: ServiceProcess,
    world: World,
    receiver: Receiver,
    requests: Requests,
    watchers: Watcher[],
  ) {
    this.#service = service
    this.#world = world
    this.#receiver = receiver
    this.#requests = requests
    this.#watchers = watchers
    this.#wire = new Wire(service.url)
    for (const name of requests.names) this.#counts.set(name, { sent: 0, accepted: 0, refusals: new Map() })
    this.#checkWebhooks()
  }

  static async prepare(service: ServiceProcess, receiver: Receiver): Promise<Attack> {
    const document = (await (await fetch(`${service.url}/api/v1/openapi.json`)).json()) as Document
    const world = await World.create(service.url, document, receiver.url)
    const app = world.anonymous.with(world.caller('app everywhere').headers)
    const { body } = await app.postRoot('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const requests = new Requests(document, body.result.tools, receiver.url, world.spare.email)
    const watchers = ['owner', 'member', 'scribe', 'owner of the other workspace at home'].map(
      (name) => new Watcher(service.url, world.caller(name)),
    )
    return new Attack(service, world, receiver, requests, watchers)
  }

  async run(count: number, seed: number) {
    const [started, before, own] = [Date.now(), cpuOf(this.#service), process.cpuUsage()]
    this.#logged = this.#service.output.length
    const drafts = this.#requests.sample(count, seed)
    let next = 0
    const work = async () => {
      for (let index = next++; index < drafts.length; index = next++) await this.#play(drafts[index] as Draft, index)
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    this.#took = {
      seconds: Math.round((Date.now() - started) / 1000),
      service: Math.round(cpuOf(this.#service) - before),
      own: Math.round((process.cpuUsage(own).user + process.cpuUsage(own).system) / 1e6),
    }
  }

  /** Checks that are possible only at the end. */
  async finalProblems(): Promise<string[]> {
    this.#wire.close()
    const problems = [...(await this.#world.changed())]
    for (const watcher of this.#watchers) {
      problems.push(
        ...this.#leaks(`the live stream of ${watcher.caller.name}`, watcher.received, watcher.caller.mayRead),
      )
      watcher.close()
    }
    return [...problems, ...this.#problemsOfLog(this.#service.output.slice(this.#logged))]
  }

  #problemsOfLog(log: string): string[] {
    const problems = this.#world.canaries.leaksToOperator(log).map((found) => `the log contains ${found}`)
    for (const line of log.split('\n').filter(Boolean)) {
      if (!line.startsWith('{')) problems.push(`a line of the log is not JSON: ${line}`)
      else if (Number(JSON.parse(line).level) >= 50) problems.push(`logged as an error: ${line}`)
    }
    return problems
  }

  get acceptedShare() {
    const all = [...this.#counts.values()]
    return all.reduce((sum, { accepted }) => sum + accepted, 0) / all.reduce((sum, { sent }) => sum + sent, 0)
  }

  /** Groups whose canaries were never read. */
  neverRead = () => groups.filter((group) => group !== 'secret' && !this.#world.canaries.permittedReads.has(group))

  neverAccepted = () =>
    [...this.#counts].filter(([name, { accepted }]) => accepted === 0 && !needsMore.has(name)).map(([name]) => name)

  report(whole: boolean): string {
    const statuses = [...this.#statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`)
    const read = [...this.#world.canaries.permittedReads].map(([group, times]) => `${group} ${times}`)
    const rows = [...this.#counts]
      .sort(([, a], [, b]) => a.accepted / a.sent - b.accepted / b.sent)
      .map(([name, { sent, accepted, refusals }]) => {
        const most = [...refusals].sort(([, a], [, b]) => b - a).slice(0, 3)
        const why = most.map(([code, times]) => `${code} ${times}`).join(', ')
        return `  ${name.padEnd(26)}${String(accepted).padStart(6)} of ${String(sent).padStart(5)}   ${why}`
      })
    return [
      `answers    ${statuses.join('  ')}`,
      `accepted   ${Math.round(this.acceptedShare * 100)} % of all`,
      `received   ${this.#delivered} webhooks, ${this.#watchers.map(({ received }) => received.length).join('/')} characters of live streams`,
      `canaries   ${this.#world.canaries.planted}, permitted reads: ${read.join('  ')}`,
      `took       ${this.#took.seconds} s; CPU time ${this.#took.service} s of the service, ${this.#took.own} s of the attacker`,
      ...(whole ? ['accepted by operation:', ...rows] : []),
    ].join('\n')
  }

  async #play(draft: Draft, index: number) {
    const caller = this.#callerOf(draft)
    const { sent, about } = addressed(draft, caller, this.#world)
    const report = (problem: string) =>
      this.problems.push(`request ${index} (${draft.name}), ${caller.name}: ${problem}\n${shown(sent)}`)
    let answer: Answered
    try {
      answer = await this.#wire.send(sent)
    } catch (error) {
      return void report(`was not answered: ${error instanceof Error ? error.message : error}`)
    }
    this.#count(draft, answer)
    for (const problem of this.#problemsOf(sent, answer, caller)) report(problem)
    if (answer.status < 400) this.#learn(draft, caller, answer, about)
    if (answer.status < 400 && sent.method === 'DELETE' && about) this.#world.knownIds.forget(about)
  }

  #callerOf(draft: Draft): Caller {
    const { callers, spare, leaving } = this.#world
    const oneOf = (caller: string, tokens: string[]) => {
      const authorization = `Bearer ${tokens[draft.callerIndex % tokens.length]}`
      return { ...this.#world.caller(caller), headers: { authorization } }
    }
    if (draft.name === 'signOut' || draft.name === 'endLogin') return oneOf('member', spare.tokens)
    // Others are needed until the end, also the owner: a newcomer can be invited as a second one.
    if (draft.name === 'deleteAccount') return oneOf('removed', leaving)
    if (forNewcomer.has(draft.name)) return this.#world.caller('newcomer')
    // Token endpoints ignore logins.
    if (draft.fitting && isTokenEndpoint(draft.name)) return this.#world.caller('anonymous')
    // Consent must be completed by the user who started it.
    if (draft.fitting && /^authorize$|Consent/.test(draft.name)) return this.#world.caller('owner')
    const fitting = draft.fitting ? callers.filter(({ fits }) => fits(draft.route)) : callers
    // These two have access to most items.
    const rich = fitting.find(({ name }) => name === ['owner', 'app everywhere'][draft.callerIndex % 4])
    if (draft.fitting && rich) return rich
    return fitting[draft.callerIndex % fitting.length] as Caller
  }

  #count({ name, method, route }: Draft, { status, text }: Answered) {
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
    const counts = this.#counts.get(name)
    if (!counts) return
    counts.sent++
    // A refused tool call is answered with 200.
    const isRefusal = name === 'callMcp' && /"isError":true|"error":\{/.test(text)
    if (status < 400 && method === route.method && !isRefusal) counts.accepted++
    const code = /"code": ?"([A-Z_]+)"|"error":"(\w+)"/.exec(text)?.slice(1).find(Boolean)
    if (code) counts.refusals.set(code, (counts.refusals.get(code) ?? 0) + 1)
  }

  #problemsOf(sent: Sent, { status, headers, text }: Answered, caller: Caller): string[] {
    const problems: string[] = []
    const type = headers.get('content-type') ?? ''
    if (status >= 500) problems.push(`answered ${status}: ${text.slice(0, 500)}`)
    if (headers.get('x-content-type-options') !== 'nosniff') problems.push(`answered ${status} without nosniff`)
    const isPage = type.startsWith('text/html') && !sent.path.startsWith('/api/v1')
    if (sent.method !== 'HEAD' && !isPage) {
      try {
        const body = text === '' ? undefined : type.includes('application/json') ? JSON.parse(text) : text
        // A path that cannot be decoded is not a known route.
        const path = isDecodable(sent.path) ? sent.path : '/no/path'
        this.#world.contract.check({
          ...sent,
          path,
          status,
          headers,
          body: type.startsWith('text/event-stream') ? '' : body,
        })
      } catch (error) {
        problems.push(error instanceof Error ? error.message.slice(0, 2000) : String(error))
      }
    }
    const all = `${[...headers].flat().join('\n')}\n${text}`
    problems.push(
      ...this.#leaks(
        `the answer ${status}`,
        all,
        caller.mayRead,
        `${sent.path} ${sent.headers.join(' ')} ${sent.body ?? ''}`,
      ),
    )
    return problems
  }

  #leaks(where: string, text: string, mayRead: ReadonlySet<Group>, sent = ''): string[] {
    const found = this.#world.canaries.leaks(text, mayRead, sent)
    return found.length > 0
      ? [`${where} contains ${[...new Set(found)].slice(0, 5).join(', ')}: ${text.slice(0, 1500)}`]
      : []
  }

  /** Keeps ids and tokens for later requests. */
  #learn({ name }: Draft, { mayRead }: Caller, { headers, text }: Answered, about: string | undefined) {
    if (!mayRead.has('here') && !isTokenEndpoint(name)) return
    const { knownIds } = this.#world
    knownIds.learn(text, about)
    const location = headers.get('location') ?? ''
    knownIds.learn(location, undefined)
    for (const [, code] of text.matchAll(/"code":"([A-Z][A-Z0-9]*-\d+)"/g)) knownIds.add('code', code as string)
    for (const [, cursor] of text.matchAll(/"next_cursor":"([^"]+)"/g)) knownIds.add('cursor', cursor as string)
    for (const [, code] of text.matchAll(/[?&]code=([\w-]+)/g)) knownIds.add('code of a grant', code as string)
    for (const [, token] of text.matchAll(/"refresh_token":"([^"]+)"/g)) knownIds.add('refresh', token as string)
    for (const [, link] of text.matchAll(/"url":"[^"]*\/f\/([^"]+)"/g)) knownIds.add('file link', link as string)
    for (const [, id] of text.matchAll(/"subject_id":"([^"]+)"/g)) knownIds.add('subject in inbox', id as string)
    if (name === 'rotateAppWebhookSecret' && about) knownIds.add('app in rotation', about)
    if (name === 'createPersonalAgent') {
      for (const [, id] of text.matchAll(/"id":"(usr_\w+)"/g)) knownIds.add('personal agent', id as string)
    }
    if (name === 'createInvitation') {
      for (const [, token] of text.matchAll(/"token":"([^"]+)"/g)) knownIds.add('invitation', token as string)
    }
  }

  /** Checks every webhook that arrives for leaks. */
  #checkWebhooks() {
    this.#receiver.answer = (response, { path, raw, headers }) => {
      this.#delivered++
      this.problems.push(
        ...this.#leaks(`a webhook to ${path}`, `${JSON.stringify(headers)} ${raw}`, readersOf(path), path),
      )
      response.end()
      this.#receiver.take()
    }
  }
}

/** Operations that need something that the attack does not have. */
const needsMore: ReadonlySet<RouteName> = new Set<RouteName>([
  // An app for Linear's API; `linear.test.ts` attacks its GraphQL.
  'linearAuthorize',
  'linearToken',
  'linearRevoke',
  'linearGraphql',
  // A request that waits at a listener, whose app has no URL of its own.
  'answerAttempt',
  'answerAsApp',
  'listenAsApp',
  // An agent that answers over A2A.
  'inspectA2aCard',
  'createA2aApp',
  'refreshA2aCard',
  'setA2aCredential',
  'listA2aTasks',
  // The signature of the git host.
  'receiveGitHook',
  // The link from a mail, and the one to the archive of the whole workspace, which would show all canaries.
  'unsubscribe',
  'downloadExport',
  // The exact name of the workspace, and then a deletion to cancel.
  'startDeletion',
  'cancelDeletion',
  // A mail, a provider or an authenticator.
  'requestPasswordReset',
  'confirmPasswordReset',
  'requestVerification',
  'confirmEmail',
  'undoEmailChange',
  'removePassword',
  'exchangeCliLogin',
  'startSso',
  'ssoCallback',
  'ssoBackChannel',
  'deleteIdentity',
  'createPasskey',
  'deletePasskey',
  'signInWithPasskey',
  'reauthWithPasskey',
])

/** For other callers these would change their membership, address or logins, or tell them of the invited's workspace. */
const forNewcomer: ReadonlySet<RouteName> = new Set<RouteName>([
  'acceptInvitation',
  'previewInvitation',
  'changePassword',
  'setPassword',
  'reauthenticate',
  'changeEmail',
  'endOtherLogins',
])

const isTokenEndpoint = (name: RouteName) => name === 'issueToken' || name === 'revokeToken'

function isDecodable(path: string) {
  try {
    return Boolean(decodeURIComponent(path.split('?')[0] as string))
  } catch {
    return false
  }
}

const shown = ({ method, path, headers, body }: Sent) =>
  `${method} ${path.slice(0, 500)}\n${headers.join(' ').slice(0, 600)}\n${body?.toString().slice(0, 1000) ?? ''}`
