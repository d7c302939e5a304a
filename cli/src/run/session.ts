import { homedir } from 'node:os'
import type { SessionCreated, SessionPrompted } from '@baton/sdk'
import { AcpAgent } from './acp.ts'
import type { Outcome, RunnerContext } from './context.ts'
import { type Ending, lastWord } from './last-word.ts'
import type { RepositorySettings } from './options.ts'
import { Outbox } from './outbox.ts'
import { Pace } from './pace.ts'
import { allowing, chosen, decide, type Question, questionFor, rejecting } from './permission.ts'
import { PlainAgent } from './plain.ts'
import { conversation, preface, withConversation } from './prompt.ts'
import { type Answer, type Message, Questions } from './questions.ts'
import { programLog } from './redact.ts'
import { Reports } from './reports.ts'
import { matchRepository } from './repositories.ts'
import { saveWork } from './save.ts'
import type { SessionRecord } from './state.ts'
import { plainText } from './text.ts'
import { Turn } from './turn.ts'
import {
  AgentFailure,
  type PermissionOutcome,
  type PermissionRequest,
  type TurnAgent,
  type TurnEnd,
} from './turn-agent.ts'
import { describe, newCall, type Said } from './updates.ts'
import { addCost, addTokens } from './usage.ts'
import { prepareWorkspace, type Workspace, WorkspaceFailure } from './workspace.ts'

const activitiesASecond = 5
/** With the minute between two checks, less than 10 minutes. */
const sayEveryMs = 8 * 60_000 + 30_000
const onceAnswerMs = 600_000
/** After Stop, what still waits may delay the last word this long. */
const stopFlushMs = 10_000

/** One agent session: its messages, its worktree, its agent and what is said in it. */
export class SessionWork {
  readonly record: SessionRecord
  readonly #context: RunnerContext
  readonly #outbox: Outbox
  readonly #reports: Reports
  readonly #questions: Questions
  readonly #queue: Message[] = []
  #working: Promise<void> | null = null
  /** Settled when the end of an interrupted turn was reported. No turn begins before. */
  #restartReported: Promise<void> = Promise.resolve()
  #agent: { agent: TurnAgent; workspace: Workspace } | null = null
  #turn: Turn | null = null
  /** Kinds and titles that a person allowed for the session; forgotten with the process. */
  readonly #allowed = new Set<string>()
  #ending: Ending | null = null
  #over = false
  #saidStopped = false
  #endIdle = () => {}
  #saidAt = 0

  constructor(context: RunnerContext, record: SessionRecord) {
    this.#context = context
    this.record = record
    const { client, clock, allCalls } = context
    this.#outbox = new Outbox({
      sessionId: record.id,
      client,
      clock,
      pace: new Pace(clock, activitiesASecond),
      allCalls,
      clean: (text) => this.#clean(text),
      cleanSoFar: (text) => this.#hidePaths(context.redactor.soFar(plainText(text))),
      ended: (why) => this.end(why),
      posted: () => {
        this.#saidAt = clock.now().getTime()
      },
      log: (line) => this.#log(line),
    })
    const { once, answerTimeoutMs } = context.settings
    this.#questions = new Questions({
      outbox: this.#outbox,
      clock,
      timeoutMs: once ? Math.min(onceAnswerMs, answerTimeoutMs) : answerTimeoutMs,
      // Waiting for a person is neither silence nor work.
      opened: () => this.#turn?.pause(),
      closed: () => this.#turn?.resume(),
    })
    this.#reports = new Reports(context, record, {
      ended: (why) => this.end(why),
      budgetReached: () => {
        if (this.#turn) this.#cancel('budget')
      },
      log: (line) => this.#log(line),
    })
  }

  get isBusy() {
    return this.#working !== null
  }

  get isOver() {
    return this.#over
  }

  #log = (line: string) =>
    this.#context.log(`${this.record.identifier.toUpperCase()} ${this.record.id.slice(-6)}: ${line}`)
  #now = () => this.#context.clock.now().getTime()
  #clean = (text: string) => this.#hidePaths(this.#context.redactor.all(plainText(text)))

  /** Without the names of directories that concern only the runner's machine. */
  #hidePaths(text: string): string {
    const { state, settings } = this.#context
    const own = this.record.worktree ?? (settings.noGit ? this.record.repository : undefined)
    const directories = [...(this.#agent?.workspace.names ?? []), ...(own ? [own] : [])]
    let hidden = text
    for (const directory of directories)
      hidden = withoutDirectory(hidden.replaceAll(`${directory}/`, ''), directory, '.')
    return withoutDirectory(withoutDirectory(hidden, state.directory, '[state]'), homedir(), '~')
  }

  // Events

  /** The session's first event. */
  async created({ data }: SessionCreated) {
    const { people, journal } = this.#context
    const { creator } = this.record
    if (people && !people.has(creator.id)) {
      this.#outbox.error('not_for_you', `This agent works only for some people. ${creator.name} is not one of them.`)
      await this.#outbox.settled()
      this.#over = true
      await journal.mark([data.event_id], 'finished')
      return
    }
    await this.begin(data.event_id, data.prompt_context)
  }

  /** Begins with a context. */
  async begin(eventId: string, context: string) {
    const words = this.#context.turns.isFull ? waitingWords : 'Starting.'
    this.#outbox.thinking(() => words)
    await this.#context.state.saveContext(this.record.id, context)
    this.#add({ eventId, text: '', seq: 0 })
  }

  /** A message or an answer of a person. */
  async prompted({ data }: SessionPrompted) {
    const { people, journal } = this.#context
    const { agent_activity: activity, event_id: eventId } = data
    const selected = activity.signal_metadata?.selected
    const answer: Answer = {
      text: activity.content.body,
      selected: Array.isArray(selected) ? selected.map(String) : [],
      message: { eventId, text: activity.content.body, seq: activity.seq },
    }
    const question = await this.#questions.openBefore(activity.seq)
    if (people && !people.has(activity.author.id)) {
      const words = `The message of ${activity.author.name} is not followed: this agent works only for some people.`
      if (question) this.#outbox.answered()
      this.#outbox.thought(words)
      question?.repeat()
      await journal.mark([eventId], 'finished')
      return
    }
    if (question) return question.answer(answer)
    if (answer.selected.length > 0 && answer.selected[0] !== continueValue) {
      // It answers a question of a process that is gone.
      this.#outbox.thought('That question is no longer open. Write a message to continue.')
      await journal.mark([eventId], 'finished')
      return
    }
    this.#add(answer.message)
  }

  /** A person pressed Stop. */
  async stop(eventId: string) {
    this.#log('stopped by a person')
    await this.#finishWith('stop')
    await this.#context.journal.mark([eventId], 'finished')
  }

  /** The session was ended by the service: nothing more is said. */
  end(why: string) {
    if (this.#over) return
    this.#log(`ended: ${why}`)
    this.#outbox.close()
    this.#reports.close()
    void this.#finishWith('ended')
  }

  /** The runner ends. What has not begun stays in the journal. */
  async shutdown() {
    if (this.#turn) {
      this.#cancel('shutdown')
      await this.#working
    } else if (this.#working) {
      this.#ending ??= 'shutdown'
      this.#preparing?.abort()
      await this.#working
    }
    this.#endIdle()
    await this.#agent?.agent.end()
    this.#outbox.close()
  }

  /** An earlier runner was interrupted in a turn of this session. */
  async reportRestart(eventIds: string[]) {
    this.#restartReported = this.#sayRestarted()
    await this.#restartReported
    await this.#context.journal.mark(eventIds, 'finished')
  }

  async #sayRestarted() {
    const { client } = this.#context
    await this.#reports.compare()
    this.#outbox.call(() => this.#reports.sendChanges())
    this.#outbox.call(async () => {
      const { state } = await client.getAgentSession({ session_id: this.record.id })
      // The turn had its last word; only the journal did not yet say so.
      if (state === 'complete' || state === 'error') return
      this.#outbox.error(
        'runner_restarted',
        'The runner was restarted during this turn. Its work so far is kept. Write a message to continue.',
      )
    })
    await this.#outbox.settled()
  }

  // Turns

  #add(message: Message) {
    if (this.#over) return
    if (this.#queue.some(({ eventId }) => eventId === message.eventId)) return
    this.#queue.push(message)
    this.#queue.sort((a, b) => a.seq - b.seq)
    this.#working ??= this.#work()
  }

  #preparing: AbortController | null = null

  async #work() {
    await this.#restartReported
    while (this.#queue.length > 0 && !this.#over && !this.#ending) {
      const { turns } = this.#context
      const preparing = new AbortController()
      this.#preparing = preparing
      if (turns.isFull && this.record.turnEndedAt !== undefined) this.#outbox.thinking(() => waitingWords)
      const stopSaying = this.#sayWaiting()
      const release = await turns.begin(preparing.signal)
      stopSaying()
      if (!release) break
      try {
        await this.#takeTurn(preparing.signal)
      } catch (error) {
        // The state directory cannot be written. What was not marked is reported after a restart.
        this.#log(`failed: ${(error as Error).message}`)
      } finally {
        release()
        this.#preparing = null
      }
    }
    // Here, not after the promise has settled: a message that comes in between would start nothing.
    this.#working = null
  }

  /** Says repeatedly that the session waits, so that it does not become stale. */
  #sayWaiting(): () => void {
    const { clock } = this.#context
    let cancel = () => {}
    const later = () => {
      cancel = clock.after(sayEveryMs, () => {
        this.#outbox.thinking(() => waitingWords)
        later()
      })
    }
    later()
    return () => cancel()
  }

  async #takeTurn(signal: AbortSignal) {
    const { journal } = this.#context
    this.#endIdle()
    // While the agent starts, further messages may come; they belong to this turn.
    const begun: Message[] = []
    let isMarked = false
    let outcome: Outcome | null
    try {
      const workspace = await this.#prepare(signal)
      const { agent, knowsConversation } = await this.#ensureAgent(workspace, signal)
      begun.push(...this.#queue.splice(0))
      const text = await this.#promptText(begun, workspace, knowsConversation)
      signal.throwIfAborted()
      await journal.mark(
        begun.map(({ eventId }) => eventId),
        'begun',
      )
      isMarked = true
      this.#log('turn started')
      outcome = await this.#runTurn(agent, workspace, text)
    } catch (error) {
      if (this.#ending === 'shutdown' && !isMarked) return
      if (begun.length === 0) begun.push(...this.#queue.splice(0))
      outcome = await this.#failTurn(error)
    }
    if (this.#ending === 'silent' || this.#ending === 'limit' || this.#ending === 'budget') this.#ending = null
    this.record.turnEndedAt = this.#context.clock.now().toISOString()
    await this.#context.state.saveSession(this.record)
    await journal.mark(
      begun.map(({ eventId }) => eventId),
      'finished',
    )
    this.#scheduleIdle()
    if (outcome) this.#context.turnEnded(this.record.id, outcome)
  }

  async #prepare(signal: AbortSignal): Promise<Workspace> {
    const settings = await this.#chooseRepository(signal)
    return prepareWorkspace(this.#context, this.record, settings, signal)
  }

  async #chooseRepository(signal: AbortSignal): Promise<RepositorySettings> {
    const { settings } = this.#context
    const known = settings.repositories.find(({ path }) => path === this.record.repository)
    if (known) return known
    const matched = await matchRepository(this.#context, this.record)
    if (matched) return matched
    const options = settings.repositories.map(({ path, repository }, n) => ({
      value: `repository-${n + 1}`,
      label: repository ?? path.split(/[\\/]/).at(-1) ?? path,
    }))
    const answer = await this.#questions.ask('Which repository is this about?', options, signal)
    const at = options.findIndex(({ value, label }, n) =>
      answer?.selected.length
        ? answer.selected[0] === value
        : [label, String(n + 1)].includes(answer?.text.trim() ?? ''),
    )
    const found = settings.repositories[at]
    if (answer && found) await this.#context.journal.mark([answer.message.eventId], 'finished')
    else if (answer) this.#queue.push(answer.message)
    if (!found) throw new TurnFailure('no_repository', 'No repository was chosen. Write a message to try again.')
    return found
  }

  async #ensureAgent(workspace: Workspace, signal: AbortSignal) {
    const { settings, clock, env, tools, debug } = this.#context
    const { record } = this
    signal.throwIfAborted()
    if (this.#agent && !this.#agent.agent.ended) return { ...this.#agent, knowsConversation: true }
    // The process has ended by itself; others that it started may be left.
    await this.#agent?.agent.end()
    this.#allowed.clear()
    const events = {
      alive: () => this.#turn?.alive(),
      update: (update: unknown) => this.#turn?.update(update),
      room: () => this.#outbox.room(),
      output: (text: string) => this.#outbox.thinking(() => text),
      permission: (request: PermissionRequest, ended: AbortSignal) => this.#permission(request, ended),
    }
    const child = {
      command: settings.command,
      cwd: workspace.directory,
      env: { ...env, ...(env.PWD === undefined ? {} : { PWD: workspace.directory }) },
      log: programLog(this.#context.redactor, (line) => this.#log(`agent | ${line}`)),
      noted: this.#context.processNoted,
    }
    if (settings.plain) {
      const isFirst = record.turnEndedAt === undefined
      const command = !isFirst && settings.followUp ? settings.followUp : settings.command
      const agent = new PlainAgent({ child, clock, events, clean: this.#clean, command })
      this.#agent = { agent, workspace }
      return { agent, knowsConversation: !isFirst && settings.followUp !== undefined }
    }
    const earlier = record.acpSession
    const starting = AcpAgent.start(
      {
        child,
        clock,
        events,
        clean: this.#clean,
        tools: tools?.admit(record.id) ?? null,
        debug: (direction, message) => debug(record.id, direction, message),
        ...(settings.mode === undefined ? {} : { mode: settings.mode }),
        ...(settings.model === undefined ? {} : { model: settings.model }),
      },
      earlier,
      signal,
    )
    const { agent, opened, sessionId } = await starting
    this.#agent = { agent, workspace }
    if (earlier !== undefined && opened === 'new') {
      this.#outbox.thought(
        "The agent's earlier session could not be continued. It begins anew, with the conversation so far.",
      )
      if (record.cost) record.cost = { ...record.cost, earlier: record.cost.earlier + record.cost.current, current: 0 }
    }
    record.acpSession = sessionId
    await this.#context.state.saveSession(record)
    return { agent, knowsConversation: opened === 'continued' }
  }

  async #promptText(messages: Message[], workspace: Workspace, knowsConversation: boolean): Promise<string> {
    const { client, state } = this.#context
    const { record } = this
    const texts = messages.map(({ text }) => text).filter(Boolean)
    if (knowsConversation) return texts.join('\n\n')
    const start = `${preface(workspace, record.branch)}\n${await state.context(record.id)}`
    if (record.turnEndedAt === undefined) return [start, ...texts].join('\n\n')
    const said = await conversation(client, record.id, new Set(messages.map(({ seq }) => seq)))
    return withConversation(start, said, texts.join('\n\n'))
  }

  /** Sends the prompt and waits for the end of the turn and everything that follows it. */
  async #runTurn(agent: TurnAgent, workspace: Workspace, text: string): Promise<Outcome | null> {
    const turn = new Turn(this.#context, workspace, this.#outbox, {
      clean: this.#clean,
      said: (said) => this.#said(said),
      cancel: (why) => this.#cancel(why),
      changed: () => this.#reports.changes(),
      isSilent: () => this.#now() - this.#saidAt >= sayEveryMs,
    })
    this.#turn = turn
    this.#saidAt = this.#now()
    const end = await agent.prompt(text).finally(() => turn.end())
    for (const call of turn.transcript.open()) this.#outbox.action(turn.transcript.action(call, 'Not finished.'))
    if (end.end === 'finished' && end.tokens) addTokens(this.record, end.tokens)
    this.#turn = null
    return this.#wrapUp(end, turn.transcript.message, workspace)
  }

  #said(said: Said) {
    switch (said.kind) {
      case 'thinking':
        return this.#outbox.thinking(() => said.body)
      case 'thought':
        return this.#outbox.thought(said.body)
      case 'action':
        return this.#outbox.action(said.action)
      case 'plan':
        return this.#outbox.plan(said.items)
      case 'cost':
        addCost(this.record, said.amount, said.currency)
        return this.#reports.usageLater()
    }
  }

  /** Commit, push, changes, usage, last word, in this order. */
  async #wrapUp(end: TurnEnd, message: string, workspace: Workspace): Promise<Outcome | null> {
    const why = this.#ending
    const isUrgent = why === 'stop' || why === 'shutdown'
    await (isUrgent ? this.#settledWithin(stopFlushMs) : this.#outbox.settled())
    if (end.end === 'failed' && end.reason === 'agent_crashed') await this.#agent?.agent.end()
    const isLost = why === 'ended'
    const notes =
      workspace.git && !isLost ? await saveWork(this.#context, this.record, workspace.git, this.#outbox) : []
    await this.#reports.compare()
    this.#outbox.call(() => this.#reports.sendChanges())
    this.#outbox.call(() => this.#reports.sendUsage())
    const outcome = await this.#lastWord(end, message, notes)
    await (isUrgent ? this.#settledWithin(stopFlushMs) : this.#outbox.settled())
    this.#log(`turn ended: ${outcome ?? 'no last word'}`)
    return outcome
  }

  async #settledWithin(ms: number) {
    let cancel = () => {}
    const late = new Promise<void>((resolve) => {
      cancel = this.#context.clock.after(ms, () => {
        this.#outbox.drop()
        resolve()
      })
    })
    await Promise.race([this.#outbox.settled(), late])
    cancel()
  }

  async #lastWord(end: TurnEnd, message: string, notes: string[]): Promise<Outcome> {
    if (this.#ending === 'ended') return 'stopped'
    if (this.#ending === 'budget') {
      await this.#askBudget()
      return 'error'
    }
    const word = lastWord(
      { end, ending: this.#ending, message, notes, summary: this.#reports.summary },
      this.#context.settings,
      this.#clean,
    )
    if (word.reason === null) this.#outbox.response(word.body)
    else this.#outbox.error(word.reason, word.body)
    if (this.#ending === 'stop') {
      this.#saidStopped = true
      return 'stopped'
    }
    if (this.#questions.unanswered) return 'unanswered'
    return word.reason === null ? 'response' : 'error'
  }

  /** A turn that ended before its prompt was sent, or by a failure of the runner. */
  async #failTurn(error: unknown): Promise<Outcome | null> {
    if (this.#ending === 'ended') return 'stopped'
    if (this.#ending === 'stop') {
      await this.#reports.compare()
      this.#outbox.call(() => this.#reports.sendChanges())
      this.#saidStopped = true
      this.#outbox.response(`Stopped. ${this.#reports.summary}`)
      await this.#settledWithin(stopFlushMs)
      return 'stopped'
    }
    const isKnown = error instanceof TurnFailure || error instanceof WorkspaceFailure || error instanceof AgentFailure
    const reason = isKnown ? error.reason : 'runner_failed'
    const message = isKnown ? error.message : 'The runner failed. Its log has the details.'
    this.#log(`failed: ${(error as Error).message}`)
    this.#outbox.error(reason, message)
    await this.#outbox.settled()
    return this.#questions.unanswered ? 'unanswered' : 'error'
  }

  /** Ends a running turn for a reason of the runner's own. The first reason stays, except that Stop and the end win. */
  #cancel(why: Ending) {
    if (!this.#ending || why === 'ended' || why === 'stop') this.#ending = why
    this.#agent?.agent.cancel(why === 'shutdown')
  }

  /** Ends the session's work for good. */
  async #finishWith(why: 'stop' | 'ended') {
    const wasWorking = this.#working
    if (this.#turn) this.#cancel(why)
    else this.#ending = why
    this.#preparing?.abort()
    await wasWorking
    if (why === 'stop' && !this.#saidStopped) await this.#failTurn(null)
    this.#over = true
    this.#endIdle()
    await this.#agent?.agent.end()
    this.#context.tools?.dismiss(this.record.id)
    const left = this.#queue.splice(0).map(({ eventId }) => eventId)
    await this.#context.journal.mark(left, 'finished')
    this.record.endedAt = this.#context.clock.now().toISOString()
    await this.#context.state.saveSession(this.record)
    this.#outbox.close()
  }

  #scheduleIdle() {
    const { clock, settings } = this.#context
    this.#endIdle()
    this.#endIdle = clock.after(settings.idleMs, () => {
      void this.#agent?.agent.end()
      this.#agent = null
    })
  }

  // Questions

  async #permission({ toolCall, options }: PermissionRequest, signal: AbortSignal): Promise<PermissionOutcome> {
    const { settings, journal } = this.#context
    const turn = this.#turn
    const workspace = this.#agent?.workspace
    const select = (optionId: string | null): PermissionOutcome =>
      optionId === null ? { outcome: 'cancelled' } : { outcome: 'selected', optionId }
    if (!turn || !workspace) return select(rejecting(options))
    const id = typeof toolCall.toolCallId === 'string' ? toolCall.toolCallId : ''
    const call = describe(structuredClone(turn.transcript.call(id) ?? newCall(id, this.#now())), toolCall, this.#clean)
    const key = `${call.kind}\0${call.title}`
    const decision = this.#allowed.has(key) ? 'allow' : await decide(call, settings, workspace.directory)
    if (decision === 'allow') return select(allowing(options))
    if (decision === 'refuse') return select(rejecting(options))
    const question: Question = questionFor(call, options, (path) => turn.transcript.shown(path))
    if (question.options.length === 0) return { outcome: 'cancelled' }
    const answer = await this.#questions.ask(question.body, question.options, signal)
    if (!answer) return select(rejecting(options))
    const option = chosen(question, answer)
    if (!option) {
      this.#add(answer.message)
      return select(rejecting(options))
    }
    await journal.mark([answer.message.eventId], 'finished')
    if (option.remember && call.title !== '') this.#allowed.add(key)
    return { outcome: 'selected', optionId: option.optionId }
  }

  async #askBudget() {
    const { cost, tokens } = this.record
    const used = [
      ...(cost ? [`${(cost.earlier + cost.current) / 1_000_000} ${cost.currency}`] : []),
      ...(tokens ? [`${tokens.input + tokens.output} tokens`] : []),
    ]
    const isMonth = this.#reports.reached === 'month'
    const which = isMonth ? "the app's budget for the month" : 'the budget for one session'
    const body = `Paused: ${which} is reached. This session has used ${used.join(', ') || 'an unknown amount'}, as reported by the agent. A manager can raise the limit; then continue.`
    await this.#outbox.ask(body, [{ value: continueValue, label: 'Continue' }])
    // Not a question of the agent's process: the answer is an ordinary message.
    this.#outbox.answered()
  }
}

const continueValue = 'continue'
const waitingWords = 'Waiting: other turns are running.'

class TurnFailure extends Error {
  readonly reason: string
  constructor(reason: string, message: string) {
    super(message)
    this.reason = reason
  }
}

/** Replaces a directory, but not a longer name that begins with it. */
const withoutDirectory = (text: string, directory: string, by: string) =>
  directory.length < 3 ? text : text.replaceAll(new RegExp(`${escaped(directory)}(?![\\w.-])`, 'g'), by)
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
