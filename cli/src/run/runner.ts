import { appendFile, rename, stat } from 'node:fs/promises'
import {
  type Agent,
  type AgentSession,
  type BatonError,
  type Clock,
  createAgent,
  eventIdOf,
  isBatonError,
  type SessionCreated,
  type SessionPrompted,
  type WebhookEvent,
} from '@baton/sdk'
import { Failure } from '../failure.ts'
import type { Child } from './child.ts'
import { agentEnvironment, type Outcome, type RunnerContext } from './context.ts'
import type { Enrolled } from './enrol.ts'
import { Journal } from './journal.ts'
import type { Settings } from './options.ts'
import { Pace, Turns } from './pace.ts'
import { killAll } from './processes.ts'
import { redactor, secretValues } from './redact.ts'
import { SessionWork } from './session.ts'
import type { SessionRecord, State } from './state.ts'
import { ToolServer } from './tools.ts'

export interface RunnerOptions {
  settings: Settings
  state: State
  enrolled: Enrolled
  people: ReadonlySet<string> | null
  clock: Clock
  env: Record<string, string | undefined>
  /** Ends the runner. */
  signal: AbortSignal
  /** A line for people, without secrets. */
  log(line: string): void
  /** For programs. */
  event(value: object): void
}

const callsASecond = 8
const shutdownMs = 25_000
const debugBytes = 5 * 1024 * 1024
const warnBeforeMs = 7 * 86_400_000
const grantMs = 365 * 86_400_000

/** After an installation elsewhere, neither the tokens nor the client's secret are valid here. */
const endsAccess = ({ status, code, details }: BatonError) =>
  status === 401 || code === 'REINSTALL_NEEDED' || (code === 'OAUTH_ERROR' && details.error === 'invalid_client')

/** Runs agents for the sessions of one app until it is aborted, replaced or, with --once, one turn has ended. */
export class Runner {
  readonly #options: RunnerOptions
  readonly #context: RunnerContext
  readonly #agent: Agent
  readonly #sessions = new Map<string, Promise<SessionWork>>()
  readonly #children = new Set<Child>()
  readonly #stopped = new AbortController()
  #outcome: (outcome: Outcome) => void = () => {}
  #savingProcesses: Promise<void> = Promise.resolve()
  /** A save that has not begun. */
  #nextSave: Promise<void> | null = null
  /** Events that a handler has got and will mark in the journal. */
  readonly #taken = new Set<string>()

  private constructor(options: RunnerOptions, journal: Journal, tools: ToolServer | null) {
    const { settings, state, enrolled, clock, env, people } = options
    const { app, tokens } = enrolled
    const secrets = [app.client_secret, app.webhook_secret]
    const hidden = redactor([...secrets, ...secretValues(env, settings.redact)])
    state.onTokens = ({ access_token, refresh_token }) => {
      hidden.add(access_token)
      hidden.add(refresh_token)
    }
    this.#options = { ...options, log: (line) => options.log(hidden.all(line)) }
    this.#agent = createAgent({
      webhookSecret: app.webhook_secret,
      baseUrl: app.url,
      tokens,
      clock,
      dedupe: {
        claim: (id, event) => journal.claim(id, event),
        // An event that no handler got needs no work: its session has ended.
        finish: async (id) => {
          if (!this.#taken.delete(id)) await journal.mark([id], 'finished')
        },
      },
      firstThought: false,
      onError: (error) => this.#options.log(`error: ${error instanceof Error ? error.message : error}`),
      // They return at once: the SDK holds an answer back while one runs.
      onCreated: (_session, event) => void this.#created(event),
      onPrompted: (_session, event) => void this.#handle(event, (work) => work.prompted(event)),
      onStop: (_session, event) => void this.#handle(event, (work) => work.stop(event.data.event_id)),
      onPermissionChange: (event) => {
        const { removed_team_ids } = event.data
        this.#endWhere(
          ({ teamId }) => teamId !== undefined && removed_team_ids.includes(teamId),
          'the app lost the team',
        )
        return journal.mark([eventIdOf(event)], 'finished')
      },
      onRevoked: (event) => {
        this.#endWhere(() => true, 'the app was uninstalled')
        return journal.mark([eventIdOf(event)], 'finished')
      },
      onPing: (event) => journal.mark([eventIdOf(event)], 'finished'),
    })
    this.#context = {
      settings,
      state,
      journal,
      clock,
      client: this.#agent.client(app.installation_id),
      app: { name: app.name, userId: app.app_user_id },
      redactor: hidden,
      turns: new Turns(settings.parallel),
      allCalls: new Pace(clock, callsASecond),
      tools,
      people,
      env: agentEnvironment(env, settings, secrets),
      log: (line) => this.#options.log(line),
      debug: (sessionId, direction, message) => this.#debug(sessionId, direction, message),
      processNoted: (child) => this.#noteProcess(child),
      turnEnded: (sessionId, outcome) => {
        this.#options.event({ event: 'turn_ended', session_id: sessionId, outcome })
        this.#outcome(outcome)
      },
    }
  }

  /** The state directory has to be locked by the caller. */
  static async start(options: RunnerOptions): Promise<Runner> {
    const { state, clock, settings, enrolled } = options
    const { app, tokens } = enrolled
    // An agent of a runner that was killed may still be working.
    await killAll(await state.processes())
    await state.saveProcesses([])
    const journal = await Journal.open(state.at('journal.jsonl'), clock)
    const tools =
      settings.tools === 'none' || settings.plain
        ? null
        : await ToolServer.start({ url: app.url, tools: settings.tools, tokens: () => tokens.get(app.installation_id) })
    return new Runner(options, journal, tools)
  }

  /** Resolves when the runner was aborted, or with how the turn of --once ended. Throws if it cannot go on. */
  async run(): Promise<Outcome | null> {
    const { signal, settings, enrolled } = this.#options
    // Read once, so that the tokens are known and never shown.
    await enrolled.tokens.get(enrolled.app.installation_id)
    const once = new Promise<Outcome>((resolve) => {
      this.#outcome = resolve
    })
    this.#recover()
    this.#warnOfExpiry()
    const listening = this.#listen()
    listening.catch(() => {})
    try {
      if (settings.issue !== undefined) await this.#openIssue(settings.issue)
      const outcome = await (settings.once ? Promise.race([listening, once]) : listening)
      return signal.aborted ? null : outcome
    } finally {
      await this.#shutdown()
    }
  }

  async #listen(): Promise<null> {
    const { signal, enrolled, log, event } = this.#options
    const { app } = enrolled
    const accessEnded = () =>
      new Failure(`The access of ${app.name} has ended: it was installed on another machine, uninstalled or deleted.`, {
        code: 'ACCESS_ENDED',
        advice: 'Log in and run this command again to install it here.',
      })
    const ended = await this.#agent
      .listen({
        signal: AbortSignal.any([signal, this.#stopped.signal]),
        installationId: app.installation_id,
        onReady: () => {
          log(`${app.name} is ready. Delegate an issue to it. Ctrl-C stops it.`)
          event({ event: 'ready', app_id: app.app_id })
        },
        onLost: (why, pauseMs) => log(`${why} Retrying in ${(pauseMs / 1000).toFixed(1)} s.`),
      })
      .catch((error) => {
        throw isBatonError(error) && endsAccess(error) ? accessEnded() : error
      })
    if (ended.end === 'replaced') {
      const who = `${ended.by.name} now listens to ${app.name} from another command.`
      throw new Failure(`${who} An app runs in one place, so this runner has ended.`, {
        code: 'REPLACED',
        advice: 'End the other command first.',
      })
    }
    if (ended.end === 'ended') throw accessEnded()
    return null
  }

  // Events

  #created(event: SessionCreated) {
    this.#options.event({ event: 'created', session_id: event.data.agent_session.id })
    return this.#handle(event, (work) => work.created(event))
  }

  async #handle(event: SessionCreated | SessionPrompted, handle: (work: SessionWork) => Promise<void>) {
    this.#taken.add(eventIdOf(event))
    try {
      const work = await this.#sessionOf(event.data.agent_session, event.action === 'created')
      if (work.isOver) await this.#context.journal.mark([eventIdOf(event)], 'finished')
      else await handle(work)
    } catch (error) {
      this.#options.log(`error: ${(error as Error).message}`)
    }
  }

  #sessionOf(session: AgentSession, isNew: boolean): Promise<SessionWork> {
    const known = this.#sessions.get(session.id)
    if (known) return known
    const opened = this.#open(session, isNew)
    this.#sessions.set(session.id, opened)
    void this.#forgetOver()
    return opened
  }

  async #open(session: AgentSession, isNew: boolean): Promise<SessionWork> {
    const { state } = this.#context
    const stored = await state.session(session.id)
    const record: SessionRecord = stored ?? {
      id: session.id,
      identifier: session.issue?.identifier.toLowerCase() ?? 'project',
      title: session.issue?.title ?? 'Project',
      creator: session.creator,
      ...(session.issue ? { issueId: session.issue.id } : {}),
      ...(session.issue?.team ? { teamId: session.issue.team.id, teamKey: session.issue.team.key } : {}),
      // Begun by another runner: the conversation is told.
      ...(isNew ? {} : { turnEndedAt: session.created_at }),
    }
    return new SessionWork(this.#context, record)
  }

  /** A session that has ended is in the state directory; it needs no memory. */
  async #forgetOver() {
    for (const [id, opened] of this.#sessions) if ((await opened.catch(() => null))?.isOver) this.#sessions.delete(id)
  }

  async #endWhere(matches: (record: SessionRecord) => boolean, why: string) {
    for (const opened of this.#sessions.values()) {
      const work = await opened.catch(() => null)
      if (work && matches(work.record)) work.end(why)
    }
  }

  /** Does what an earlier runner accepted and did not begin, and reports what it began and did not finish. */
  #recover() {
    const bySession = new Map<string, { event: WebhookEvent; begun: boolean }[]>()
    for (const entry of this.#context.journal.unfinished()) {
      const { event } = entry
      const key = event.type === 'AgentSessionEvent' ? event.data.agent_session.id : eventIdOf(event)
      bySession.set(key, [...(bySession.get(key) ?? []), entry])
    }
    for (const entries of bySession.values()) void this.#recoverSession(entries)
  }

  async #recoverSession(entries: { event: WebhookEvent; begun: boolean }[]) {
    const begun = entries.flatMap((entry) => (entry.begun ? [entry.event] : []))
    const [first] = begun
    try {
      if (first?.type === 'AgentSessionEvent') {
        const work = await this.#sessionOf(first.data.agent_session, first.action === 'created')
        await work.reportRestart(begun.map(eventIdOf))
      }
      for (const { event, begun: isBegun } of entries) if (!isBegun) await this.#agent.redo(event)
    } catch (error) {
      this.#options.log(`error: ${(error as Error).message}`)
    }
  }

  /** --issue: opens a session without an event. */
  async #openIssue(id: string) {
    const { client } = this.#context
    const issue = await client.getIssue({ issue_id: id })
    const session = await this.#agent.open(this.#options.enrolled.app.installation_id, { issue_id: issue.id })
    const work = await this.#sessionOf(session.data, true)
    const tag = (name: string, content: string) =>
      `<${name}>${content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</${name}>`
    const context = `<issue identifier='${issue.code}'>\n${tag('title', issue.title)}\n${tag('description', issue.description ?? '')}\n</issue>`
    await work.begin(`opened_${session.id}`, context)
  }

  // The end

  async #shutdown() {
    const { log } = this.#options
    this.#stopped.abort()
    const works = (await Promise.all([...this.#sessions.values()].map((opened) => opened.catch(() => null)))).filter(
      (work) => work !== null,
    )
    if (works.some(({ isBusy }) => isBusy)) log('Ending the turns.')
    // In real time: a process manager waits no longer.
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, shutdownMs)
    })
    await Promise.race([Promise.all(works.map((work) => work.shutdown())), late])
    clearTimeout(timer)
    await killAll([...this.#children].flatMap((child) => (child.isGone ? [] : child.known)))
    await this.#context.tools?.close()
    await this.#savingProcesses
    await this.#context.state.saveProcesses([])
    await this.#context.journal.close()
  }

  #warnOfExpiry() {
    const { enrolled, clock, log } = this.#options
    const endsAt = Date.parse(enrolled.app.installed_at) + grantMs
    const warn = () => {
      if (this.#stopped.signal.aborted) return
      const leftMs = endsAt - clock.now().getTime()
      if (leftMs < warnBeforeMs) {
        log(
          `The access of ${enrolled.app.name} ends ${new Date(endsAt).toISOString().slice(0, 10)}. Log in and start the runner again before.`,
        )
      }
      const cancel = clock.after(86_400_000, warn)
      this.#stopped.signal.addEventListener('abort', cancel, { once: true })
    }
    warn()
  }

  /** Writes down which processes to end, if this runner is killed. Notes that come during a write are written together. */
  #noteProcess(child: Child): Promise<void> {
    this.#children.add(child)
    this.#nextSave ??= this.#savingProcesses
      .then(() => {
        this.#nextSave = null
        for (const one of this.#children) if (one.isGone) this.#children.delete(one)
        return this.#context.state.saveProcesses([...this.#children].flatMap(({ known }) => known))
      })
      .catch((error) => this.#options.log(`error: ${(error as Error).message}`))
    this.#savingProcesses = this.#nextSave
    return this.#nextSave
  }

  #debugging: Promise<void> = Promise.resolve()

  #debug(sessionId: string, direction: 'in' | 'out', message: unknown) {
    const { settings, state, redactor, clock } = this.#context
    if (!settings.debug) return
    const line = redactor.all(JSON.stringify({ at: clock.now().toISOString(), session: sessionId, direction, message }))
    const path = state.at('debug.log')
    this.#debugging = this.#debugging
      .then(async () => {
        const { size } = await stat(path).catch(() => ({ size: 0 }))
        if (size + line.length > debugBytes) await rename(path, `${path}.1`).catch(() => {})
        await appendFile(path, `${line.slice(0, debugBytes)}\n`, { mode: 0o600 })
      })
      .catch(() => {})
  }
}
