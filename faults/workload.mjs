// Users create issues, an app posts activities, issues are delegated to the built-in agent, and webhooks deliver to a
// ledger; at a steady pace, whatever happens to the service. In the end, everything acknowledged is compared with the data
// of the service and the ledger.
import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { listAll, reasonOf, send } from './api.mjs'

/** With more requests in flight, writes are skipped. */
const maxInFlight = 400
const webhooks = 3
const sessions = 16
const delegateEvery = 60
const workingStates = ['pending', 'active', 'stale']
const settledWithinMs = 75_000
const redirectUri = 'https://robots.example.com/callback'

export const loadEnv = {
  BATON_API_RATE: '1000000',
  BATON_INSTALLATION_RATE: '1000000',
  BATON_SESSION_RATE: '100000',
  BATON_WEBHOOK_ALLOW: '127.0.0.1',
  BATON_RETRY_DELAYS: '1,2,3,5,8',
  BATON_DEMO: '0',
}

export class Workload {
  /** Number of acknowledged writes, by second since the start. */
  writes = []
  /** When each was acknowledged (performance.now). */
  acknowledgedAt = []
  answers = new Map()
  slowestMs = 0
  #services
  #ledger
  #owner
  #robot
  #teamId
  #builtIn
  #sessionIds = []
  #webhookIds = []
  #issues = new Set()
  #activities = new Map()
  #delegated = new Set()
  #startedAt = 0
  #ticks = 0
  #inFlight = 0
  #ticking
  #tickMs

  /** `pace`: writes per second. */
  constructor(services, ledger, pace) {
    this.#services = services
    this.#ledger = ledger
    this.#tickMs = 1000 / pace
  }

  async setUp() {
    // Several workloads may use one service, one after the other.
    const email = `ann-${randomBytes(4).toString('hex')}@example.com`
    const ann = { name: 'Ann', email, password: 'a password' }
    const { token } = await this.call('POST', '/auth/sign-up', ann, {})
    const bearer = { authorization: `Bearer ${token}` }
    const workspace = await this.call('POST', '/workspaces', { name: 'Acme' }, bearer)
    this.#owner = { ...bearer, 'x-workspace-id': workspace.id }
    this.#teamId = (await this.call('POST', '/teams', { name: 'Engineering', key: 'ENG' })).id
    for (let index = 0; index < webhooks; index++) await this.addWebhook(this.#ledger.urlOf(`/hook/${index}`))
    await this.#installApp()
    for (let index = 0; index < sessions; index++) {
      const issue = await this.#createIssue({ title: `For the app ${index}` })
      const session = await this.call('POST', '/agent-sessions', { issue_id: issue.id }, this.#robot)
      this.#sessionIds.push(session.id)
    }
    const { data } = await this.call('GET', '/agents?include_deployment=true')
    this.#builtIn = data[0].id
  }

  /** Counted only if the URL is of the ledger. */
  async addWebhook(url) {
    const webhook = await this.call('POST', '/webhooks', {
      label: url.slice(0, 60),
      url,
      all_teams: true,
      resource_types: ['Issue'],
    })
    if (this.#ledger.expect(url, webhook)) this.#webhookIds.push(webhook.id)
    return webhook
  }

  async #installApp() {
    const { client_id, client_secret } = await this.call('POST', '/agent-apps', {
      schemaVersion: '1.0.0',
      name: 'Robot',
      developer: { name: 'Robots Inc' },
      oauth: { redirect_uris: [redirectUri], scopes: ['read', 'write'] },
    })
    const verifier = randomBytes(32).toString('base64url')
    const query = new URLSearchParams({
      client_id,
      redirect_uri: redirectUri,
      response_type: 'code',
      actor: 'app',
      state: 'a-state',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    })
    const { location } = await this.call('GET', `/oauth/authorize?${query}`)
    const id = new URL(location).searchParams.get('request')
    const approved = await this.call('POST', `/oauth/requests/${id}/approve`, { all_teams: true })
    const code = new URL(approved.redirect_to).searchParams.get('code')
    const response = await fetch(`${this.#services[0].url}/api/v1/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
        client_id,
        client_secret,
      }),
    })
    this.#robot = { ...this.#owner, authorization: `Bearer ${(await response.json()).access_token}` }
  }

  call(method, path, body, headers = this.#owner) {
    return send(this.#services[0], method, path, body, headers)
  }

  callAsApp(method, path, body) {
    return this.call(method, path, body, this.#robot)
  }

  /** Of the owner. */
  get headers() {
    return this.#owner
  }

  get sessionIds() {
    return this.#sessionIds
  }

  get webhookIds() {
    return this.#webhookIds
  }

  get issueIds() {
    return [...this.#issues]
  }

  start() {
    this.#startedAt = performance.now()
    this.#ticking = setInterval(() => this.#tick(), this.#tickMs)
  }

  /** Starts all writes that are due, so that a late timer does not change the pace. */
  #tick() {
    const due = Math.floor((performance.now() - this.#startedAt) / this.#tickMs)
    for (; this.#ticks < due; this.#ticks++) if (this.#inFlight < maxInFlight) void this.#write(this.#ticks)
  }

  async #write(number) {
    const service = this.#services[number % this.#services.length]
    this.#inFlight++
    const began = performance.now()
    const done = await (number % 2 === 0 ? this.#postActivity(service, number) : this.#create(service, number))
    this.slowestMs = Math.max(this.slowestMs, done.tookMs ?? performance.now() - began)
    this.#inFlight--
    if (!done.ok) return
    const now = performance.now()
    this.acknowledgedAt.push(now)
    const second = Math.floor((now - this.#startedAt) / 1000)
    this.writes[second] = (this.writes[second] ?? 0) + 1
  }

  /** Posts again with the same key until it is answered. */
  async #postActivity(service, number) {
    const id = this.#sessionIds[(number / 2) % this.#sessionIds.length]
    const key = `activity-${number}`
    for (let tookMs = 0; this.#ticking; ) {
      const began = performance.now()
      try {
        const content = { type: 'thought', body: key }
        const activity = await send(
          service,
          'POST',
          `/agent-sessions/${id}/activities`,
          { content },
          {
            ...this.#robot,
            'idempotency-key': key,
          },
        )
        this.#activities.set(key, activity.seq)
        return { ok: true, tookMs: Math.max(tookMs, performance.now() - began) }
      } catch (error) {
        this.#countFailure(error)
        tookMs = Math.max(tookMs, performance.now() - began)
        await sleep(100)
      }
    }
    return { ok: false }
  }

  async #create(service, number) {
    const delegate_id = number % delegateEvery === 1 ? this.#builtIn : undefined
    try {
      await this.#createIssue({ title: `Issue ${number}`, ...(delegate_id ? { delegate_id } : {}) }, service)
      return { ok: true }
    } catch (error) {
      this.#countFailure(error)
      return { ok: false }
    }
  }

  async #createIssue(fields, service = this.#services[0]) {
    const issue = await send(service, 'POST', '/issues', { team_id: this.#teamId, ...fields }, this.#owner)
    this.#issues.add(issue.id)
    if (fields.delegate_id) this.#delegated.add(issue.id)
    return issue
  }

  #countFailure(error) {
    const why = reasonOf(error)
    this.answers.set(why, (this.answers.get(why) ?? 0) + 1)
  }

  /** Medians of the next `seconds` one-second windows. */
  async measure(seconds) {
    const from = Math.ceil((performance.now() - this.#startedAt) / 1000)
    const arrivedAt = (second) => this.#startedAt + second * 1000
    await sleep(arrivedAt(from + seconds) - performance.now())
    const windows = Array.from({ length: seconds }, (_, index) => from + index)
    return {
      writes: median(windows.map((second) => this.writes[second] ?? 0)),
      deliveries: median(
        windows.map((second) => this.#ledger.arrivedBetween(arrivedAt(second), arrivedAt(second + 1))),
      ),
    }
  }

  async stop() {
    clearInterval(this.#ticking)
    this.#ticking = undefined
    while (this.#inFlight > 0) await sleep(20)
  }

  /** Waits until no delivery is pending and no agent is working. */
  async settle() {
    const deadline = Date.now() + settledWithinMs
    while (Date.now() < deadline && !(await this.#isSettled().catch(() => false))) await sleep(300)
  }

  async #isSettled() {
    for (const id of this.#webhookIds) {
      const { data } = await this.call('GET', `/webhooks/${id}/deliveries?status=pending&limit=1`)
      if (data.length > 0) return false
    }
    for (const id of this.#delegated) {
      const { data } = await this.call('GET', `/agent-sessions?issue_id=${id}`)
      if (data.some(({ state }) => workingStates.includes(state))) return false
    }
    return true
  }

  /** Returns one line for each problem. */
  async problems() {
    return [...(await this.#lostOrDuplicated()), ...(await this.#agentProblems()), ...(await this.#undelivered())]
  }

  async #lostOrDuplicated() {
    const problems = []
    const kept = new Set((await this.list('/issues')).map(({ id }) => id))
    for (const id of this.#issues) if (!kept.has(id)) problems.push(`${id} was acknowledged and is lost`)
    const seqs = new Map()
    for (const id of this.#sessionIds) {
      for (const { seq, content } of await this.#activitiesOf(id)) {
        if (seqs.has(content.body)) problems.push(`${content.body} exists twice`)
        seqs.set(content.body, seq)
      }
    }
    for (const [key, seq] of this.#activities) {
      if (seqs.get(key) !== seq) problems.push(`${key} was acknowledged as ${seq} and is ${seqs.get(key) ?? 'lost'}`)
    }
    return problems
  }

  async #agentProblems() {
    const problems = []
    for (const id of this.#delegated) {
      const { data } = await this.call('GET', `/agent-sessions?issue_id=${id}`)
      if (data.length !== 1) problems.push(`${id} was delegated and has ${data.length} sessions`)
      for (const session of data) {
        const activities = await this.#activitiesOf(session.id)
        const ends = activities.filter(({ type }) => type === 'response' || type === 'error').map(({ type }) => type)
        if (ends.join() !== 'response') problems.push(`the agent on ${id} ended with: ${ends.join() || 'nothing'}`)
      }
    }
    return problems
  }

  async #undelivered() {
    const problems = []
    for (const webhookId of this.#webhookIds) {
      const deliveries = await this.list(`/webhooks/${webhookId}/deliveries`)
      const known = new Set(deliveries.map(({ id }) => id))
      for (const { id, status } of deliveries) {
        if (status !== 'succeeded') problems.push(`${id} is ${status}`)
        if (!this.#ledger.hasReceived(id)) problems.push(`${id} never arrived`)
      }
      for (const id of this.#ledger.receivedAt(webhookId)) if (!known.has(id)) problems.push(`${id} is not recorded`)
      const received = this.#ledger.issuesReceivedAt(webhookId)
      for (const id of this.#issues) if (!received.has(id)) problems.push(`${id} never arrived at ${webhookId}`)
    }
    for (const id of this.#ledger.forged) problems.push(`${id} has a bad signature`)
    return problems
  }

  async #activitiesOf(sessionId) {
    const all = []
    for (let more = true; more; ) {
      const after = all.at(-1)?.seq ?? 0
      const page = await this.call('GET', `/agent-sessions/${sessionId}/activities?limit=200&after_seq=${after}`)
      all.push(...page.data)
      more = page.has_more
    }
    return all
  }

  list(path) {
    return listAll((...args) => this.call(...args), path)
  }

  get figures() {
    return { issues: this.#issues.size, activities: this.#activities.size, delegated: this.#delegated.size }
  }
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
