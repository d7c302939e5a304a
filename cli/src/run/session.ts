import { homedir } from 'node:os'
import type { SessionCreated, SessionPrompted } from '@baton/sdk'
import { isBatonError } from '@baton/sdk'
import { AcpAgent } from './acp.ts'
import { type Changes, compare, summary } from './changes.ts'
import type { Outcome, RunnerContext } from './context.ts'
import { pullRequestUrl, type RepositorySettings } from './options.ts'
import { Outbox } from './outbox.ts'
import { Pace } from './pace.ts'
import { allowing, chosen, decide, type Question, questionFor, rejecting } from './permission.ts'
import { PlainAgent } from './plain.ts'
import { conversation, preface, withConversation } from './prompt.ts'
import { openPullRequest } from './pull-request.ts'
import { matchRepository } from './repositories.ts'
import type { SessionRecord } from './state.ts'
import { firstCharacters, lastCharacters } from './text.ts'
import {
  AgentFailure,
  type PermissionOutcome,
  type PermissionRequest,
  type TurnAgent,
  type TurnEnd,
} from './turn-agent.ts'
import { describe, newCall, type Said, Transcript } from './updates.ts'
import { addCost, addTokens, usageReport } from './usage.ts'
import { prepareWorkspace, type Workspace, WorkspaceFailure } from './workspace.ts'

interface Message {
  eventId: string
  text: string
  /** Its position among the session's activities; 0 for the session's start. */
  seq: number
}

interface Answer {
  text: string
  selected: readonly string[]
  message: Message
}

/** Why the runner ends a turn. */
type Ending = 'stop' | 'ended' | 'silent' | 'limit' | 'shutdown' | 'budget'

interface OpenQuestion {
  options: readonly { value: string; label: string }[]
  /** Resolves to the question's position, or null if it could not be posted. */
  posted: Promise<number | null>
  answer(answer: Answer): void
  repeat(): void
}

const activitiesASecond = 5
const runningAfterMs = 1000
const changesEveryMs = 10_000
const usageEveryMs = 5000
/** With the minute between two checks, less than 10 minutes. */
const sayEveryMs = 8 * 60_000 + 30_000
const onceAnswerMs = 600_000
/** After Stop, what still waits may delay the last word this long. */
const stopFlushMs = 10_000
const responseLength = 32_000

/** One agent session: its messages, its worktree, its agent and what is said in it. */
export class SessionWork {
  readonly record: SessionRecord
  readonly #context: RunnerContext
  readonly #outbox: Outbox
  readonly #queue: Message[] = []
  #working: Promise<void> | null = null
  #agent: { agent: TurnAgent; workspace: Workspace } | null = null
  #turn: Turn | null = null
  #question: OpenQuestion | null = null
  #asking: Promise<unknown> = Promise.resolve()
  /** Kinds and titles that a person allowed for the session; forgotten with the process. */
  readonly #allowed = new Set<string>()
  #ending: Ending | null = null
  #over = false
  #saidStopped = false
  #reported: string | null = null
  #changes: Changes | null = null
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
      cleanSoFar: (text) => this.#hidePaths(context.redactor.soFar(text)),
      ended: (why) => this.end(why),
      posted: () => {
        this.#saidAt = clock.now().getTime()
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
  #clean = (text: string) => this.#hidePaths(this.#context.redactor.all(text))

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
    const question = this.#question
    const askedAt = question ? await question.posted : null
    const isAnswer = question !== null && askedAt !== null && activity.seq > askedAt
    if (people && !people.has(activity.author.id)) {
      const words = `The message of ${activity.author.name} is not followed: this agent works only for some people.`
      if (isAnswer) this.#outbox.answered()
      this.#outbox.thought(words)
      if (isAnswer) question.repeat()
      await journal.mark([eventId], 'finished')
      return
    }
    if (isAnswer && this.#question === question) return question.answer(answer)
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
    this.#outbox.error(
      'runner_restarted',
      'The runner was restarted during this turn. Its work so far is kept. Write a message to continue.',
    )
    await this.#reportChanges()
    await this.#outbox.settled()
    await this.#context.journal.mark(eventIds, 'finished')
  }

  // Turns

  #add(message: Message) {
    if (this.#over) return
    if (this.#queue.some(({ eventId }) => eventId === message.eventId)) return
    this.#queue.push(message)
    this.#queue.sort((a, b) => a.seq - b.seq)
    this.#working ??= this.#work().finally(() => {
      this.#working = null
    })
  }

  #preparing: AbortController | null = null

  async #work() {
    while (this.#queue.length > 0 && !this.#over && !this.#ending) {
      const { turns } = this.#context
      const preparing = new AbortController()
      this.#preparing = preparing
      if (turns.isFull && this.record.turnEndedAt !== undefined) this.#outbox.thinking(() => waitingWords)
      const stopSaying = this.#sayWaiting()
      const release = await turns.begin(preparing.signal)
      stopSaying()
      if (!release) return
      try {
        await this.#takeTurn(preparing.signal)
      } finally {
        release()
        this.#preparing = null
      }
    }
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
    const answer = await this.#ask({ body: 'Which repository is this about?', options }, signal)
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
    this.#allowed.clear()
    const events = {
      alive: () => this.#turn?.alive(),
      update: (update: unknown) => this.#turn?.update(update),
      output: (text: string) => this.#outbox.thinking(() => text),
      permission: (request: PermissionRequest, ended: AbortSignal) => this.#permission(request, ended),
    }
    const child = {
      command: settings.command,
      cwd: workspace.directory,
      env: { ...env, ...(env.PWD === undefined ? {} : { PWD: workspace.directory }) },
      log: (line: string) => this.#log(`agent | ${line}`),
      noted: this.#context.processNoted,
    }
    if (settings.plain) {
      const isFirst = record.turnEndedAt === undefined
      const command = !isFirst && settings.followUp ? settings.followUp : settings.command
      const agent = new PlainAgent({ child, clock, events, command })
      this.#agent = { agent, workspace }
      return { agent, knowsConversation: !isFirst && settings.followUp !== undefined }
    }
    const earlier = record.acpSession
    const starting = AcpAgent.start(
      {
        child,
        clock,
        events,
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
      said: (said) => this.#said(said),
      cancel: (why) => this.#cancel(why),
      changed: () => this.#reportChanges(),
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
        return this.#reportUsageLater()
    }
  }

  /** Commit, push, changes, usage, last word, in this order. */
  async #wrapUp(end: TurnEnd, message: string, workspace: Workspace): Promise<Outcome | null> {
    const why = this.#ending
    const isUrgent = why === 'stop' || why === 'shutdown'
    await (isUrgent ? this.#settledWithin(stopFlushMs) : this.#outbox.settled())
    if (end.end === 'failed' && end.reason === 'agent_crashed') await this.#agent?.agent.end()
    const notes = workspace.git ? await this.#save(workspace) : []
    await this.#reportChanges()
    await this.#reportUsage()
    const outcome = await this.#lastWord(end, message, notes)
    await (isUrgent ? this.#settledWithin(stopFlushMs) : this.#outbox.settled())
    if (why === 'silent' || why === 'limit' || why === 'budget') this.#ending = null
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

  async #lastWord(end: TurnEnd, message: string, notes: string[]): Promise<Outcome | null> {
    const outbox = this.#outbox
    const more = notes.length > 0 ? `\n\n${notes.join('\n')}` : ''
    const respond = (text: string): Outcome => {
      outbox.response(`${lastCharacters(text, responseLength - more.length)}${more}`)
      return 'response'
    }
    const fail = (reason: string, text: string): Outcome => {
      outbox.error(reason, `${text}${more}`)
      return this.#unanswered ? 'unanswered' : 'error'
    }
    switch (this.#ending) {
      case 'ended':
        return 'stopped'
      case 'stop':
        this.#saidStopped = true
        respond(`Stopped. ${this.#summary()}`)
        return 'stopped'
      case 'shutdown':
        return fail(
          'runner_stopped',
          'The runner was stopped during this turn. Its work so far is kept. Write a message to continue.',
        )
      case 'silent':
        return fail(
          'agent_silent',
          `Nothing came from the agent for ${minutes(this.#context.settings.silenceMs)}. The turn was cancelled.`,
        )
      case 'limit':
        return fail(
          'turn_limit',
          `The turn took longer than ${minutes(this.#context.settings.turnLimitMs)} and was cancelled.`,
        )
      case 'budget':
        await this.#askBudget()
        return 'error'
    }
    if (end.end === 'failed') return fail(end.reason, end.message)
    if (end.end === 'answered') return respond(end.text || `Finished without a message. ${this.#summary()}`)
    const text = message.trim()
    switch (end.stopReason) {
      case 'end_turn': {
        const outcome = respond(text || `Finished without a message. ${this.#summary()}`)
        return this.#unanswered ? 'unanswered' : outcome
      }
      case 'max_tokens':
      case 'max_turn_requests':
        return fail('agent_limit', withText(`The agent reached its limit (${end.stopReason}).`, text))
      case 'refusal':
        return fail('agent_refused', withText('The agent refused to continue.', text))
      case 'cancelled': {
        const outcome = respond(withText('A step was not allowed. Write what to do instead.', text))
        return this.#unanswered ? 'unanswered' : outcome
      }
    }
    return fail(
      'agent_failed',
      `The agent ended the turn with an unknown reason: ${firstCharacters(end.stopReason, 100)}.`,
    )
  }

  #summary = () => (this.#changes && this.#changes.files_total > 0 ? summary(this.#changes) : 'No files changed.')

  /** A turn that ended before its prompt was sent, or by a failure of the runner. */
  async #failTurn(error: unknown): Promise<Outcome | null> {
    if (this.#ending === 'ended') return 'stopped'
    if (this.#ending === 'stop') {
      await this.#reportChanges()
      this.#saidStopped = true
      this.#outbox.response(`Stopped. ${this.#summary()}`)
      await this.#settledWithin(stopFlushMs)
      return 'stopped'
    }
    const isKnown = error instanceof TurnFailure || error instanceof WorkspaceFailure || error instanceof AgentFailure
    const reason = isKnown ? error.reason : 'runner_failed'
    const message = isKnown ? error.message : 'The runner failed. Its log has the details.'
    this.#log(`failed: ${(error as Error).message}`)
    this.#outbox.error(reason, message)
    await this.#outbox.settled()
    return this.#unanswered ? 'unanswered' : 'error'
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

  #unanswered = false

  /** Asks a person, one question at a time. Null if it was refused by Stop, the end, the timeout or the signal. */
  #ask(
    question: { body: string; options: { value: string; label: string }[] },
    signal: AbortSignal,
  ): Promise<Answer | null> {
    const asked = this.#asking.then(() => (signal.aborted || this.#over ? null : this.#askNow(question, signal)))
    this.#asking = asked.catch(() => {})
    return asked
  }

  async #askNow(
    { body, options }: { body: string; options: { value: string; label: string }[] },
    signal: AbortSignal,
  ): Promise<Answer | null> {
    const { clock, settings } = this.#context
    let settle: (answer: Answer | null) => void = () => {}
    const answered = new Promise<Answer | null>((resolve) => {
      settle = resolve
    })
    const post = () => this.#outbox.ask(body, options).then((activity) => activity?.seq ?? null)
    const open: OpenQuestion = {
      options,
      posted: post(),
      answer: settle,
      repeat: () => {
        open.posted = post()
      },
    }
    const timeoutMs = settings.once ? Math.min(onceAnswerMs, settings.answerTimeoutMs) : settings.answerTimeoutMs
    const cancel = clock.after(timeoutMs, () => {
      this.#unanswered = true
      settle(null)
    })
    const refuse = () => settle(null)
    signal.addEventListener('abort', refuse, { once: true })
    if (signal.aborted) refuse()
    this.#question = open
    this.#turn?.pause()
    try {
      void open.posted.then((seq) => {
        if (seq === null) settle(null)
      })
      return await answered
    } finally {
      cancel()
      signal.removeEventListener('abort', refuse)
      this.#question = null
      this.#turn?.resume()
      this.#outbox.answered()
    }
  }

  async #permission({ toolCall, options }: PermissionRequest, signal: AbortSignal): Promise<PermissionOutcome> {
    const { settings, journal } = this.#context
    const turn = this.#turn
    const workspace = this.#agent?.workspace
    const select = (optionId: string | null): PermissionOutcome =>
      optionId === null ? { outcome: 'cancelled' } : { outcome: 'selected', optionId }
    if (!turn || !workspace) return select(rejecting(options))
    const id = typeof toolCall.toolCallId === 'string' ? toolCall.toolCallId : ''
    const call = describe(structuredClone(turn.transcript.call(id) ?? newCall(id, this.#now())), toolCall)
    const key = `${call.kind}\0${call.title}`
    const decision = this.#allowed.has(key) ? 'allow' : await decide(call, settings, workspace.directory)
    if (decision === 'allow') return select(allowing(options))
    if (decision === 'refuse') return select(rejecting(options))
    const question: Question = questionFor(call, options, (path) => turn.transcript.shown(path))
    if (question.options.length === 0) return { outcome: 'cancelled' }
    const answer = await this.#ask(question, signal)
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
    const { usage, budget_reached } = await this.#context.client.getAgentSession({ session_id: this.record.id })
    const used = [
      ...(usage?.cost_micros == null ? [] : [`${usage.cost_micros / 1_000_000} ${usage.currency}`]),
      ...(usage?.input_tokens == null ? [] : [`${(usage.input_tokens ?? 0) + (usage.output_tokens ?? 0)} tokens`]),
    ]
    const which = budget_reached === 'month' ? "the app's budget for the month" : 'the budget for one session'
    const body = `Paused: ${which} is reached. This session has used ${used.join(', ') || 'an unknown amount'}, as reported by the agent. A manager can raise the limit; then continue.`
    await this.#outbox.ask(body, [{ value: continueValue, label: 'Continue' }])
    // Not a question of the agent's process: the answer is an ordinary message.
    this.#outbox.answered()
  }

  // Git, changes and usage

  /** Commits and pushes. Returns what the response has to say about it. */
  async #save({ git }: Workspace): Promise<string[]> {
    const { settings, app } = this.#context
    const { record } = this
    if (!git) return []
    const notes: string[] = []
    const { worktree } = git
    if (settings.commit) {
      const identifier = record.identifier === 'project' ? 'Project' : record.identifier.toUpperCase()
      const title = `${identifier}: ${record.title}`.replace(/\s+/g, ' ').trim()
      const author = { name: app.name, email: `${app.userId}@users.noreply.invalid` }
      await worktree.commitAll(`${title}\n\nBaton-Session: ${record.id}\n`, author).catch((error: Error) => {
        this.#log(`commit failed: ${error.message}`)
        notes.push(`The changes could not be committed: ${error.message}`)
      })
    }
    const head = await worktree.head()
    const remote = git.settings.push
    if (
      remote === undefined ||
      !head ||
      head === record.base?.commit ||
      head === record.pushed ||
      this.#ending === 'ended'
    )
      return notes
    const branch = record.branch ?? ''
    const refused = await worktree.push(remote, branch)
    if (refused) return [...notes, `The push to ${remote} was refused: ${refused}`]
    record.pushed = head
    const base = (record.base?.ref ?? 'main').replace(/^origin\//, '')
    const link = record.linked
      ? null
      : settings.prUrl !== undefined
        ? pullRequestUrl(settings.prUrl, { base, branch, identifier: record.identifier.toUpperCase() })
        : settings.pr
          ? await openPullRequest({
              directory: worktree.path,
              branch,
              base,
              title: `${record.identifier.toUpperCase()}: ${record.title}`,
              env: this.#context.env,
            })
          : null
    if (link) {
      this.#outbox.link('Pull request', link)
      record.linked = true
    }
    return notes
  }

  #reportingChanges: Promise<void> | null = null

  /** Sends the changes if they differ from those sent before. */
  #reportChanges(): Promise<void> {
    this.#reportingChanges = (this.#reportingChanges ?? Promise.resolve()).then(() => this.#sendChanges())
    return this.#reportingChanges
  }

  async #sendChanges() {
    const { client, state, allCalls, redactor } = this.#context
    const { record } = this
    const git = this.#agent?.workspace.git
    if (!git || !record.base || this.#ending === 'ended') return
    try {
      const changes = await compare({
        worktree: git.worktree,
        base: record.base,
        index: state.at('indexes', record.id.slice(-8)),
        about: {
          repository: await git.repository.displayName(),
          remote_url: await git.repository.remoteUrl(git.settings.push),
          pushed: record.pushed !== undefined && record.pushed === (await git.worktree.head()),
        },
        hasSecret: redactor.finds,
      })
      this.#changes = changes
      const text = JSON.stringify(changes)
      if (text === this.#reported || (this.#reported === null && changes.files_total === 0)) return
      await allCalls.run(() =>
        client.setSessionChanges({ session_id: record.id, ...changes }, { repeatable: true, timeoutMs: 60_000 }),
      )
      this.#reported = text
    } catch (error) {
      if (isBatonError(error, 'SESSION_ENDED')) return this.end(error.message)
      this.#log(`changes could not be reported: ${(error as Error).message}`)
    }
  }

  #usageTimer: (() => void) | null = null

  #reportUsageLater() {
    this.#usageTimer ??= this.#context.clock.after(usageEveryMs, () => {
      this.#usageTimer = null
      void this.#reportUsage()
    })
  }

  async #reportUsage() {
    this.#usageTimer?.()
    this.#usageTimer = null
    const { client, allCalls, settings, state } = this.#context
    const usage = usageReport(this.record, settings.model)
    if (!usage || this.#ending === 'ended') return
    try {
      await state.saveSession(this.record)
      const session = await allCalls.run(() =>
        client.updateAgentSession({ session_id: this.record.id, usage }, { repeatable: true }),
      )
      if (session.budget_reached && this.#turn) this.#cancel('budget')
    } catch (error) {
      if (isBatonError(error, 'SESSION_ENDED')) return this.end(error.message)
      this.#log(`usage could not be reported: ${(error as Error).message}`)
    }
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

const withText = (first: string, text: string) => (text === '' ? first : `${first}\n\n${text}`)
const minutes = (ms: number) => (ms % 60_000 === 0 ? `${ms / 60_000} minutes` : `${ms / 1000} seconds`)

interface TurnHooks {
  said(said: Said): void
  cancel(why: 'silent' | 'limit'): void
  changed(): Promise<void>
  /** Whether nothing was said for so long that the session could become stale. */
  isSilent(): boolean
}

/** The timers and the transcript of one turn. */
class Turn {
  readonly transcript: Transcript
  readonly #context: RunnerContext
  readonly #outbox: Outbox
  readonly #hooks: TurnHooks
  readonly #running = new Map<string, () => void>()
  #aliveAt: number
  #leftMs: number
  #startedAt: number
  #paused = 0
  #ended = false
  #changedSince = true
  #timers: (() => void)[] = []

  constructor(context: RunnerContext, workspace: Workspace, outbox: Outbox, hooks: TurnHooks) {
    this.#context = context
    this.#outbox = outbox
    this.#hooks = hooks
    this.transcript = new Transcript(workspace.names)
    this.#aliveAt = this.#now()
    this.#startedAt = this.#now()
    this.#leftMs = context.settings.turnLimitMs
    this.#watchSilence()
    this.#watchLimit()
    this.#every(60_000, () => {
      if (this.#paused === 0 && hooks.isSilent()) outbox.thinking(() => 'Still working.')
    })
    if (workspace.git) {
      this.#every(changesEveryMs, async () => {
        if (!this.#changedSince) return
        this.#changedSince = false
        await hooks.changed()
      })
    }
  }

  #now = () => this.#context.clock.now().getTime()

  /** Runs `work` repeatedly, each time `ms` after the last run has ended. */
  #every(ms: number, work: () => unknown) {
    const again = () => {
      if (this.#ended) return
      this.#timers.push(
        this.#context.clock.after(ms, async () => {
          await work()
          again()
        }),
      )
    }
    again()
  }

  alive() {
    this.#aliveAt = this.#now()
    this.#changedSince = true
  }

  update(update: unknown) {
    if (this.#ended) return
    for (const said of this.transcript.add(update, this.#now())) this.#hooks.said(said)
    const { toolCallId } = (update ?? {}) as { toolCallId?: unknown }
    if (typeof toolCallId === 'string') this.#showRunning(toolCallId)
  }

  /** A call that runs for a second is shown before it ends. */
  #showRunning(id: string) {
    const call = this.transcript.call(id)
    if (!call || call.done) {
      this.#running.get(id)?.()
      this.#running.delete(id)
    } else if (!this.#running.has(id)) {
      const cancel = this.#context.clock.after(runningAfterMs, () => {
        if (!call.done && !this.#ended) this.#outbox.acting(this.transcript.action(call, ''))
      })
      this.#running.set(id, cancel)
    }
  }

  /** Waiting for a person is neither silence nor work. */
  pause() {
    if (this.#paused++ === 0) this.#leftMs -= this.#now() - this.#startedAt
  }

  resume() {
    if (--this.#paused > 0) return
    this.#aliveAt = this.#now()
    this.#startedAt = this.#now()
    this.#watchLimit()
  }

  get #usedMs() {
    return this.#paused > 0 ? 0 : this.#now() - this.#startedAt
  }

  #watchSilence() {
    const { clock, settings } = this.#context
    const leftMs = this.#aliveAt + settings.silenceMs - this.#now()
    this.#timers.push(
      clock.after(Math.max(1, leftMs), () => {
        if (this.#ended) return
        if (this.#paused > 0) this.#aliveAt = this.#now()
        if (this.#now() - this.#aliveAt >= settings.silenceMs) this.#hooks.cancel('silent')
        else this.#watchSilence()
      }),
    )
  }

  #watchLimit() {
    this.#timers.push(
      this.#context.clock.after(Math.max(1, this.#leftMs), () => {
        if (!this.#ended && this.#paused === 0 && this.#usedMs >= this.#leftMs) this.#hooks.cancel('limit')
      }),
    )
  }

  end() {
    this.#ended = true
    for (const cancel of [...this.#timers, ...this.#running.values()]) cancel()
  }
}
