// Users of the service in the storm: set up webhooks and create issues on request.
import { setTimeout as sleep } from 'node:timers/promises'
import { listAll, reasonOf, send } from './api.mjs'

const posters = 8

export class Tracker {
  acknowledged = []
  /** Reasons why posts were not acknowledged. Their issues may exist anyway. */
  unacknowledged = []
  webhookIds = []
  #apis
  #headers
  #teamIds = []
  #requested = 0
  #posted = 0
  #inFlight = new Map()
  #stopped = false

  constructor(apis) {
    this.#apis = apis
    for (const api of apis) this.#inFlight.set(api, 0)
  }

  /** Creates a workspace with three members, two teams and webhooks at these URLs. Returns the webhooks with their secrets. */
  async setUp(urls) {
    const people = []
    for (const name of ['Ann', 'Ben', 'Cleo']) {
      const person = { name, email: `${name.toLowerCase()}@example.com`, password: 'a password' }
      const { token } = await this.call('POST', '/auth/sign-up', person, {})
      people.push({ ...person, headers: { authorization: `Bearer ${token}` } })
    }
    const [owner, ...others] = people
    const workspace = await this.call('POST', '/workspaces', { name: 'Acme' }, owner.headers)
    const within = ({ headers }) => ({ ...headers, 'x-workspace-id': workspace.id })
    this.#headers = [within(owner)]
    for (const other of others) {
      const invited = await this.call('POST', '/workspaces/me/invitations', { email: other.email, role: 'admin' })
      await this.call('POST', '/invitations/accept', { token: invited.token }, other.headers)
      this.#headers.push(within(other))
    }
    for (const key of ['ENG', 'OPS']) {
      this.#teamIds.push((await this.call('POST', '/teams', { name: key, key })).id)
    }
    const webhooks = []
    for (const url of urls) {
      const webhook = { label: url, url, all_teams: true, resource_types: ['Issue'] }
      webhooks.push(await this.call('POST', '/webhooks', webhook))
    }
    this.webhookIds = webhooks.map(({ id }) => id)
    return webhooks
  }

  startPosting() {
    for (let poster = 0; poster < posters; poster++) void this.#post(poster)
  }

  /** Requests more issues, created as fast as possible. */
  request(issues) {
    this.#requested += issues
  }

  inFlightAt(api) {
    return this.#inFlight.get(api)
  }

  /** Resolves when all requested issues are acknowledged. */
  async finishPosting() {
    while (this.acknowledged.length < this.#requested) await sleep(20)
    this.#stopped = true
  }

  stop() {
    this.#stopped = true
  }

  async #post(poster) {
    for (let turn = poster; !this.#stopped; turn++) {
      if (this.#posted >= this.#requested) {
        await sleep(5)
        continue
      }
      this.#posted++
      const api = this.#apis[turn % this.#apis.length]
      if (await this.#createIssue(api, poster)) continue
      this.#posted--
      await sleep(20)
    }
  }

  async #createIssue(api, poster) {
    const title = `Issue of poster ${poster}`
    const team_id = this.#teamIds[poster % this.#teamIds.length]
    this.#inFlight.set(api, this.#inFlight.get(api) + 1)
    try {
      const headers = this.#headers[poster % this.#headers.length]
      const { id } = await send(api, 'POST', '/issues', { title, team_id }, headers)
      this.acknowledged.push(id)
      return true
    } catch (error) {
      const why = reasonOf(error)
      // Connection refused: the issue was certainly not created.
      if (why !== 'ECONNREFUSED') this.unacknowledged.push(why)
      return false
    } finally {
      this.#inFlight.set(api, this.#inFlight.get(api) - 1)
    }
  }

  call(method, path, body, headers = this.#headers[0]) {
    return send(this.#apis[0], method, path, body, headers)
  }

  list(path) {
    return listAll((...args) => this.call(...args), path)
  }

  async hasPending() {
    for (const id of this.webhookIds) {
      const { data } = await this.call('GET', `/webhooks/${id}/deliveries?status=pending&limit=1`)
      if (data.length > 0) return true
    }
    return false
  }
}
