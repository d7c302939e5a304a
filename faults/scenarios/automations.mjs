import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { listAll, send } from '../api.mjs'
import { Journal } from '../processes.mjs'
import { postgresEnv, startRoles } from './kills.mjs'
import { Time } from './mail.mjs'

const jump = fileURLToPath(new URL('../jump.mjs', import.meta.url))
// Below the limits of runs: 60 an hour of an automation, 1,000 an hour in a workspace.
const workspaces = 3
const automationsEach = 15
const issuesEach = 45
const kills = 12
/** A claim expires after 30 seconds. */
const claimMs = 31_000
const settleWithinMs = 240_000

export const automations = {
  name: 'automations',
  summary: 'workers on two nodes are killed while 2,025 causes run automations',
  withinMs: 600_000,
  async run({ url }) {
    const dir = mkdtempSync(join(tmpdir(), 'baton-faults-automations-'))
    try {
      return await runThrough(new Time(join(dir, 'offset')), url)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  },
}

async function runThrough(time, url) {
  const journal = new Journal()
  const services = await startRoles(['api', 'worker', 'worker'], journal, {
    ...postgresEnv(url),
    NODE_OPTIONS: `--import=${jump}`,
    FAULTS_CLOCK: time.file,
    BATON_SIGNUP: 'open',
  })
  for (const service of services) await service.untilReady()
  const [api, ...workers] = services
  const companies = await setUp(api)

  const making = Promise.all(companies.map((company) => company.makeIssues()))
  for (let kill = 0; kill < kills; kill++) {
    const worker = workers[kill % workers.length]
    await worker.untilReady()
    await sleep(300 + 700 * Math.random())
    await worker.kill()
    time.pass(claimMs)
  }
  await making
  for (const worker of workers) await worker.untilReady()
  const problems = await settled(companies, time)
  for (const company of companies) problems.push(...(await company.problems()))
  for (const { wasReady, text } of journal.unexpectedEnds) if (wasReady) problems.push(text)
  return { problems, notes: `${workspaces * automationsEach * issuesEach} causes, ${kills} kills` }
}

async function setUp(api) {
  const { token } = await send(api, 'POST', '/auth/sign-up', {
    email: 'owner@example.com',
    password: 'correct horse',
    name: 'Owner',
  })
  return Promise.all(Array.from({ length: workspaces }, (_, index) => Company.create(api, token, index)))
}

/** A workspace whose automations comment on each new issue and create another one, which matches none of them. */
class Company {
  #call
  #team
  #automations = []
  #issues = []

  static async create(api, token, index) {
    const company = new Company()
    const headers = { authorization: `Bearer ${token}` }
    const { id } = await send(api, 'POST', '/workspaces', { name: `Workspace ${index}` }, headers)
    company.#call = (method, path, body) => send(api, method, path, body, { ...headers, 'x-workspace-id': id })
    company.#team = await company.#call('POST', '/teams', { name: 'Engineering', key: 'ENG' })
    for (let at = 0; at < automationsEach; at++) {
      const automation = await company.#call('POST', '/automations', {
        team_id: company.#team.id,
        name: `Automation ${at}`,
        trigger: { type: 'issue', on: 'created' },
        filter: { type: ['bug'] },
        actions: [
          { type: 'comment', text: `Automation ${at}` },
          { type: 'create_issue', title: `{{issue.code}} by ${at}` },
        ],
      })
      company.#automations.push(automation)
    }
    return company
  }

  async makeIssues() {
    for (let at = 0; at < issuesEach; at++) {
      const body = { title: `Bug ${at}`, type: 'bug', team_id: this.#team.id }
      this.#issues.push(await this.#call('POST', '/issues', body))
    }
  }

  async pending() {
    const pages = await Promise.all(
      this.#automations.map(({ id }) => this.#call('GET', `/automations/${id}/runs?state=pending&limit=100`)),
    )
    return pages.reduce((sum, { data }) => sum + data.length, 0)
  }

  /** Each cause has one outcome, and each action happened once. */
  async problems() {
    const problems = []
    const codes = this.#issues.map(({ code }) => code)
    for (const [at, { id }] of this.#automations.entries()) {
      const runs = await listAll(this.#call, `/automations/${id}/runs`)
      const done = runs.filter(({ state }) => state === 'done')
      if (runs.length !== issuesEach || done.length !== issuesEach) {
        problems.push(`automation ${at} has ${runs.length} runs, ${done.length} of them done, for ${issuesEach} causes`)
      }
    }
    const created = (await listAll(this.#call, '/issues?type=task')).map(({ title }) => title).sort()
    const expected = codes.flatMap((code) => this.#automations.map((_, at) => `${code} by ${at}`)).sort()
    if (JSON.stringify(created) !== JSON.stringify(expected)) {
      problems.push(
        `${created.length} issues were created, ${new Set(created).size} different ones, for ${expected.length}`,
      )
    }
    for (const issue of this.#issues) {
      const comments = await listAll(this.#call, `/comments?target_type=issue&target_id=${issue.id}`)
      const texts = new Set(comments.map(({ text }) => text))
      if (comments.length !== automationsEach || texts.size !== automationsEach) {
        problems.push(
          `${issue.code} has ${comments.length} comments, ${texts.size} different ones, for ${automationsEach}`,
        )
      }
    }
    return problems
  }
}

/** Waits until no run is pending. Time passes, so that claims of dead workers end. */
async function settled(companies, time) {
  const pending = async () => (await Promise.all(companies.map((one) => one.pending()))).reduce((a, b) => a + b, 0)
  const deadline = Date.now() + settleWithinMs
  for (let before = -1; Date.now() < deadline; ) {
    const left = await pending()
    if (left === 0) return []
    // Not while runs are done: their claims would expire too.
    if (left === before) time.pass(claimMs)
    before = left
    await sleep(3000)
  }
  return [`${await pending()} runs are pending`]
}
