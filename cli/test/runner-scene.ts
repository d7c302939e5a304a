import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BatonClient, TokenManager } from '@baton/sdk'
import { expect, onTestFinished } from 'vitest'
import { credentials, delegated, installed, registered } from '../../sdk/test/scene.ts'
import { sql } from '../../server/src/db/sql.ts'
import type { TestApp, TestPerson } from '../../server/test/harness.ts'
import type { Outcome } from '../src/run/context.ts'
import { readSettings } from '../src/run/options.ts'
import { Runner } from '../src/run/runner.ts'
import { State } from '../src/run/state.ts'
import { temporary } from './baton.ts'
import { repository } from './repository.ts'

const acpAgent = fileURLToPath(new URL('acp-agent.mjs', import.meta.url))
const listenUrl = 'https://listen.invalid/'

export interface Activity {
  id: string
  seq: number
  type: string
  content: Record<string, string>
  ephemeral: boolean
  signal: string | null
  signal_metadata: { options: { value: string; label: string }[] } | null
  author: { kind: string }
  created_at: string
}

// biome-ignore lint/suspicious/noExplicitAny: scripts are data
type Script = Record<string, any>

interface SceneOptions {
  script?: Script
  /** In place of the scripted agent. */
  command?: string[]
  flags?: Record<string, string | boolean>
  files?: Record<string, string | Uint8Array>
  env?: Record<string, string>
  /** Where the runner reaches the service, if not directly. */
  url?: string
  people?: (people: { owner: TestPerson; member: TestPerson }) => TestPerson[]
}

/** Requests of the runner that have not been answered; streams are not counted. */
let inFlight = 0
const realFetch = globalThis.fetch
globalThis.fetch = async (input, init) => {
  const isStream = String(input).includes('/listen?') || String(input).endsWith('/listen')
  if (isStream) return realFetch(input, init)
  inFlight++
  try {
    return await realFetch(input, init)
  } finally {
    inFlight--
  }
}

/** Longer timers are passed by the test itself. */
const shortMs = 2000

/** A runner in this process, with the test's clock, for an installed app, a repository and a scripted agent. */
export async function runnerScene(app: TestApp, options: SceneOptions = {}) {
  const { flags = {}, files, env = {} } = options
  const at = await registered(app, listenUrl)
  const here = await installed(app, at)
  const repo = await repository(files)
  const directory = await temporary('baton-state-')
  const log = join(directory, 'agent-log.jsonl')
  const scriptFile = join(directory, 'script.json')
  const state = new State(join(directory, 'state'))
  await state.create()
  const tokens = await here.store.get(here.installationId)
  if (!tokens) throw new Error('there are no tokens')
  await state.tokens().set(here.installationId, tokens)
  const command = options.command ?? [process.execPath, acpAgent, scriptFile]
  const setScript = (script: Script) => writeFile(scriptFile, JSON.stringify({ log, ...script }))
  await setScript(options.script ?? {})
  const people = options.people ? new Set(options.people(at).map(({ user }) => user.id)) : null
  const notes: string[] = []
  const events: Record<string, unknown>[] = []

  async function start(more: Record<string, string | boolean> = {}) {
    const controller = new AbortController()
    const enrolled = {
      app: {
        url: options.url ?? app.rootUrl,
        app_id: at.client.app.id,
        name: 'Robot',
        client_id: at.client.client_id,
        client_secret: at.client.client_secret,
        webhook_secret: at.client.webhook_secret,
        installation_id: here.installationId,
        app_user_id: here.agentUserId,
        installed_at: app.clock.now().toISOString(),
      },
      tokens: new TokenManager({
        ...credentials(app, at),
        baseUrl: options.url ?? app.rootUrl,
        store: state.tokens(),
      }),
    }
    const runner = await Runner.start({
      settings: readSettings({ values: { ...(flags.config ? {} : { repo }), ...flags, ...more }, rest: command }),
      state,
      enrolled,
      people,
      clock: app.clock,
      env: { ...process.env, ...env },
      signal: controller.signal,
      log: (line) => void notes.push(line),
      event: (value) => void events.push(value as Record<string, unknown>),
    })
    let ended: { outcome: Outcome | null } | { error: Error } | null = null
    const running = runner.run().then(
      (outcome) => {
        ended = { outcome }
      },
      (error) => {
        ended = { error }
      },
    )
    const before = notes.length
    await until(() => notes.slice(before).some((line) => / is ready/.test(line)) || ended !== null)
    const stop = async () => {
      controller.abort()
      await until(() => ended !== null)
      await running
      return ended
    }
    const handle = {
      stop,
      running,
      get ended() {
        return ended
      },
    }
    onTestFinished(async () => {
      await stop()
    })
    return handle
  }

  /** Sends due deliveries, and moves the clock to short timers, until it is true. */
  async function until(isTrue: () => unknown): Promise<void> {
    for (;;) {
      if (await isTrue()) return
      await app.deliver()
      if (inFlight === 0 && app.clock.nextInMs <= shortMs)
        app.clock.advance({ milliseconds: Math.max(1, app.clock.nextInMs) })
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  /** Lets time pass in steps in which heartbeats and posts are made. */
  async function pass(ms: number) {
    for (let left = ms; left > 0; left -= 10_000) {
      await until(() => inFlight === 0)
      app.clock.advance({ milliseconds: Math.min(left, 10_000) })
      await app.tick()
      await leaseExtended()
    }
  }

  /** Resolves when the runner's listener, if there is one, has extended its lease: else deliveries would miss it. */
  async function leaseExtended() {
    const soon = new Date(app.clock.now().getTime() + 15_000)
    const expiring = sql`select 1 from listeners where app_id = ${at.client.app.id} and lease_until < ${soon}`
    while (await app.ctx.db.row(expiring)) await new Promise((resolve) => setTimeout(resolve, 1))
  }

  const activities = async (sessionId: string, as: TestPerson = at.owner): Promise<Activity[]> => {
    const { body } = await as.get(`/agent-sessions/${sessionId}/activities?limit=200`)
    return body.data
  }
  const session = async (sessionId: string) => (await at.owner.get(`/agent-sessions/${sessionId}`)).body
  const inState = (sessionId: string, ...states: string[]) =>
    until(async () => states.includes((await session(sessionId)).state))
  /** Turns of the session whose work has ended, with everything that follows the last word. */
  const turnsEnded = (sessionId: string) =>
    events.filter(({ event, session_id }) => event === 'turn_ended' && session_id === sessionId).length
  const last = async (sessionId: string) => (await activities(sessionId)).at(-1) as Activity
  const say = async (sessionId: string, body: string, as: TestPerson = at.owner) => {
    const { status } = await as.post(`/agent-sessions/${sessionId}/activities`, { content: { type: 'prompt', body } })
    expect(status).toBe(201)
  }
  const answer = async (sessionId: string, question: Activity, value: string, as: TestPerson = at.owner) => {
    const label = question.signal_metadata?.options.find((option) => option.value === value)?.label ?? value
    return as.post(`/agent-sessions/${sessionId}/activities`, {
      content: { type: 'prompt', body: label },
      signal_metadata: { in_reply_to: question.id, selected: [value] },
    })
  }
  // biome-ignore lint/suspicious/noExplicitAny: the agent's log is data
  const agentLog = async (): Promise<any[]> =>
    (await readFile(log, 'utf8').catch(() => ''))
      .split('\n')
      // The last line may not be written to its end yet.
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  const received = async (method: string) =>
    (await agentLog()).flatMap(({ received, pid }) =>
      received?.method === method ? [{ pid, ...received.params }] : [],
    )
  const prompts = async (): Promise<string[]> => (await received('session/prompt')).map(({ prompt }) => prompt[0].text)

  return {
    ...at,
    app,
    repo,
    state,
    notes,
    events,
    people,
    agentUserId: here.agentUserId,
    installationId: here.installationId,
    setScript,
    start,
    until,
    pass,
    delegate: (title?: string, fields?: object) => delegated(at, here.agentUserId, title, fields),
    activities,
    session,
    inState,
    turnsEnded,
    last,
    say,
    answer,
    agentLog,
    received,
    prompts,
    async clientOfApp() {
      const manager = new TokenManager({ ...credentials(app, at), store: state.tokens() })
      const tokenProvider = manager.provider(here.installationId)
      return { client: new BatonClient({ baseUrl: app.rootUrl, clock: app.clock, tokenProvider }) }
    },
    worktree: (sessionId: string) => state.worktree(sessionId),
    changes: async (sessionId: string) => (await at.owner.get(`/agent-sessions/${sessionId}/changes`)).body,
  }
}
export type RunnerScene = Awaited<ReturnType<typeof runnerScene>>
