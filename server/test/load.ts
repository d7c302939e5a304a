import { setTimeout as sleep } from 'node:timers/promises'
import type { Outsider } from './outside.ts'

/** Calls by people and apps through the proxy, until it is stopped. */
export class Load {
  readonly failures = new Set<string>()
  readonly issueIds: string[] = []
  #calls = 0
  #stopped = false
  readonly #loops: Promise<void>[]

  constructor(person: Outsider, team_id: string, app: Outsider) {
    const inTracker = async () => {
      const issue = await this.#call(person, 'POST', '/issues', { title: 'Another', team_id })
      this.issueIds.push(issue.id)
      await this.#call(person, 'POST', '/comments', { target_type: 'issue', target_id: issue.id, text: 'Seen' })
      await this.#call(person, 'GET', `/issues/${issue.code}`)
    }
    const aroundIt = async () => {
      await this.#call(person, 'POST', '/labels', { name: 'A label' })
      const project = await this.#call(person, 'POST', '/projects', { title: 'A project', team_ids: [team_id] })
      await this.#call(person, 'PUT', `/projects/${project.id}`, { status: 'in_progress' })
      await this.#call(person, 'GET', '/issues')
    }
    const ofAnAgent = async () => {
      const issue_id = this.issueIds.at(-1)
      if (!issue_id) return
      const { id } = await this.#call(app, 'POST', '/agent-sessions', { issue_id })
      await this.#call(app, 'POST', `/agent-sessions/${id}/activities`, { content: { type: 'thought', body: 'Hm' } })
      await this.#call(person, 'POST', `/agent-sessions/${id}/stop`)
    }
    this.#loops = [inTracker, inTracker, aroundIt, ofAnAgent].map((turn) => this.#loop(turn))
  }

  /** Resolves after this many more calls. */
  async until(more: number) {
    const enough = this.#calls + more
    while (this.#calls < enough && this.failures.size === 0) await sleep(10)
  }

  async stop() {
    this.#stopped = true
    await Promise.all(this.#loops)
  }

  async #loop(turn: () => Promise<void>) {
    while (!this.#stopped) {
      await turn().catch((error: Error) => this.failures.add(error.message))
      await sleep(100)
    }
  }

  async #call(caller: Outsider, method: string, path: string, body?: object) {
    const answer = await caller(method, path, body)
    this.#calls++
    const { status, body: content } = answer
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${content.code ?? content}`)
    return content
  }
}
