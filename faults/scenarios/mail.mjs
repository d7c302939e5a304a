import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { send } from '../api.mjs'
import { MailServer } from '../mail-server.mjs'
import { Journal } from '../processes.mjs'
import { postgresEnv, startRoles } from './kills.mjs'

const jump = fileURLToPath(new URL('../jump.mjs', import.meta.url))
const kills = 4
const perPhase = 200
const arriveWithinMs = 90_000
/** A claim expires after 120 seconds. */
const claimMs = 121_000
const minuteMs = 60_000

export const mail = {
  name: 'mail',
  summary: 'workers are killed, PostgreSQL crashes, and the mail server is down for an hour, while mails are sent',
  withinMs: 400_000,
  async run({ url, database }) {
    const dir = mkdtempSync(join(tmpdir(), 'baton-faults-mail-'))
    const server = new MailServer()
    await server.start()
    try {
      return await sendThrough(server, new Time(join(dir, 'offset')), url, database)
    } finally {
      await server.stop()
      rmSync(dir, { recursive: true, force: true })
    }
  },
}

/** The clock of the service, which only moves forwards. */
export class Time {
  file
  #offsetMs = 0

  constructor(file) {
    this.file = file
    this.pass(0)
  }

  pass(ms) {
    this.#offsetMs += ms
    writeFileSync(this.file, String(this.#offsetMs))
  }
}

async function sendThrough(server, time, url, database) {
  const journal = new Journal()
  const services = await startRoles(['api', 'worker', 'worker'], journal, {
    ...postgresEnv(url),
    NODE_OPTIONS: `--import=${jump}`,
    FAULTS_CLOCK: time.file,
    BATON_SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    BATON_MAIL_FROM: 'Baton <baton@example.com>',
    BATON_MAIL_RATE: '10000',
    BATON_SIGNUP: 'open',
  })
  for (const service of services) await service.untilReady()
  const [api, ...workers] = services
  const inviter = await Inviter.signUp(api)
  const problems = []

  const inviting = inviter.invite(perPhase)
  for (let kill = 0; kill < kills; kill++) {
    const worker = workers[kill % workers.length]
    await worker.untilReady()
    await sleep(300 * Math.random())
    await worker.kill()
    time.pass(claimMs)
  }
  const killed = await inviting
  problems.push(...(await arrival(server, killed, 'after the kills', time)))

  const crashed = await inviter.invite(perPhase)
  for (let crash = 0; crash < 2; crash++) {
    await sleep(400)
    await database.stop('immediate')
    await sleep(1000)
    await database.start()
  }
  problems.push(...(await arrival(server, crashed, 'after the crashes of PostgreSQL', time)))

  await server.stop()
  const waiting = await inviter.invite(perPhase)
  for (const minutes of [1, 5, 15, 15, 15, 15]) {
    time.pass(minutes * minuteMs)
    // Until the workers have tried again.
    await sleep(6000)
  }
  const early = waiting.filter((address) => server.ledger.has(address))
  if (early.length > 0) problems.push(`${early.length} mails were taken by a server that was down`)
  const { state, queued } = await inviter.call('GET', '/mail/status')
  if (state !== 'paused') problems.push(`the queue is ${state} while the mail server is down`)
  if (queued < perPhase) problems.push(`only ${queued} mails wait`)
  await server.start()
  time.pass(15 * minuteMs)
  problems.push(...(await arrival(server, waiting, 'after the mail server was down', time)))

  const repeated = (addresses) => addresses.filter((address) => (server.ledger.get(address) ?? []).length > 1)
  // Only a worker that dies, or whose connection to the mail server does, may leave a mail to be sent again.
  for (const [when, addresses] of [
    ['the crashes of PostgreSQL', crashed],
    ['the mail server was down', waiting],
  ]) {
    if (repeated(addresses).length > 0) problems.push(`${repeated(addresses).length} mails arrived twice after ${when}`)
  }
  const mixed = [...server.ledger.values()].filter((ids) => new Set(ids).size > 1)
  if (mixed.length > 0) problems.push(`${mixed.length} mails arrived again with another Message-ID`)
  for (const { wasReady, text } of journal.unexpectedEnds) if (wasReady) problems.push(text)
  const notes = `${server.ledger.size} mails, ${repeated(killed).length} of them twice after ${kills} kills`
  return { problems, notes }
}

/** Waits until every address has its mail. Time passes, so that claims of the dead and pauses end. */
async function arrival(server, addresses, when, time) {
  const missing = () => addresses.filter((address) => !server.ledger.has(address))
  const deadline = Date.now() + arriveWithinMs
  while (missing().length > 0 && Date.now() < deadline) {
    const before = missing().length
    await sleep(6000)
    // Not while mails are being sent: their claims would expire too.
    if (missing().length === before) time.pass(claimMs)
  }
  return missing().length > 0 ? [`${missing().length} of ${addresses.length} mails are missing ${when}`] : []
}

/** Invites people to as many workspaces as the limit of invitations needs. */
class Inviter {
  #api
  #headers
  #count = 0

  static async signUp(api) {
    const inviter = new Inviter()
    inviter.#api = api
    const { token } = await send(api, 'POST', '/auth/sign-up', {
      email: 'owner@example.com',
      password: 'correct horse',
      name: 'Owner',
    })
    inviter.#headers = { authorization: `Bearer ${token}` }
    await inviter.#newWorkspace()
    return inviter
  }

  call(method, path, body) {
    return send(this.#api, method, path, body, this.#headers)
  }

  async #newWorkspace() {
    const { id } = await this.call('POST', '/workspaces', { name: `Workspace ${this.#count}` })
    this.#headers['x-workspace-id'] = id
  }

  /** Returns the addresses whose invitation was acknowledged. */
  async invite(count) {
    const addresses = []
    while (addresses.length < count) {
      if (this.#count % 40 === 0) await this.#newWorkspace()
      const email = `person-${++this.#count}@example.com`
      const { invitation } = await this.call('POST', '/workspaces/me/invitations', { email, role: 'member' })
      if (invitation.mail !== 'queued') throw new Error(`the invitation of ${email} is ${invitation.mail}`)
      addresses.push(email)
    }
    return addresses
  }
}
