import { randomUUID } from 'node:crypto'
import { type ActionResult, type Automation, automationLimits, type Role } from '@baton/protocol'
import { plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { counters } from '../counters.ts'
import type { Topics, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Chain } from '../hooks.ts'
import type { Member } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import { act, lockAgents, type Scene, Skipped } from './actions.ts'
import { lockAutomation } from './automations.ts'
import { agentIdsIn } from './check.ts'
import { exceededLimit, type Outcome, settle } from './settle.ts'

const leaseMs = 30_000
const maxClaims = 5

/** A run that is exclusive to this process while its lease holds. */
export interface Claimed {
  id: string
  automationId: string
  claimId: string
  attempt: number
}

/**
 * Claims the oldest pending runs, of each automation only the first (automation.in-order). A workspace whose deletion is
 * pending is left alone.
 */
export const claimRuns = ({ db, clock }: Pick<Context, 'db' | 'clock'>, count: number): Promise<Claimed[]> => {
  const now = clock.now()
  return db.rows(sql`
    with next as (
      select r.id from automation_runs r
      where r.state = 'pending' and (r.lease_until is null or r.lease_until <= ${now})
        and not exists (select from automation_runs o
          where o.automation_id = r.automation_id and o.state = 'pending' and o.id < r.id)
        and not exists (select from workspaces w where w.id = r.workspace_id and w.deletion_at is not null)
      order by r.id limit ${count} for update of r skip locked
    )
    update automation_runs r set claim_id = ${randomUUID()}, lease_until = ${plus(now, leaseMs)}, attempts = attempts + 1
    from next where r.id = next.id
    returning r.id, r.automation_id as "automationId", r.claim_id as "claimId", r.attempts as attempt`)
}

interface Run {
  id: string
  automationId: string
  workspaceId: string
  cause: string
  issueId: string | null
  agentId: string | null
  chain: Chain['before']
}

type Stored = Pick<
  Automation,
  'id' | 'team_id' | 'owner_id' | 'trigger' | 'filter' | 'actions' | 'state' | 'version'
> & {
  lastIssues: Record<string, string>
}

/** Does a claimed run and writes its outcome, both in one transaction: all of it happens, or nothing. */
export async function performRun(ctx: Context, claimed: Claimed): Promise<void> {
  const state = await ctx.db.tx(async (tx) => {
    await lockAutomation(tx, claimed.automationId)
    const run = await tx.row<Run>(sql`
      select id, automation_id as "automationId", workspace_id as "workspaceId", cause, issue_id as "issueId",
        agent_id as "agentId", chain
      from automation_runs where id = ${claimed.id} and claim_id = ${claimed.claimId} and state = 'pending' for update`)
    if (!run) return null
    const now = ctx.clock.now()
    const automation = await readStored(tx, run.automationId)
    const outcome: Outcome =
      claimed.attempt > maxClaims
        ? { state: 'failed', reason: 'gave_up', message: `It was begun ${maxClaims} times and not finished.` }
        : await decide(ctx, tx, now, run, automation)
    await settle({ tx, now }, run, automation?.version ?? null, outcome)
    return outcome.state
  })
  if (state) counters.automationRuns.inc({ state })
}

const readStored = (tx: Tx, id: string) =>
  tx.row<Stored>(sql`
    select id, team_id, owner_id, trigger, filter, actions, state, version, last_issues as "lastIssues"
    from automations where id = ${id}`)

const skipped = (reason: Outcome['reason'], message?: string): Outcome => ({
  state: 'skipped',
  ...(reason && { reason }),
  ...(message && { message }),
})

async function decide(ctx: Context, tx: Tx, now: Date, run: Run, automation: Stored | undefined): Promise<Outcome> {
  const isOn = automation && (automation.state === 'on' || (run.cause === 'manual' && automation.state === 'off'))
  if (!isOn) return skipped('off')
  if (isLoop(run)) return skipped('loop', `More than ${automationLimits.depth} automations, or the same one twice.`)
  const owner = await lockOwner(tx, run.workspaceId, automation)
  if (!owner) return skipped('owner_not_allowed')
  const limit = await exceededLimit(tx, run.automationId, run.workspaceId, now)
  if (limit) return skipped('rate_limited', `There would be ${limit}.`)
  if (automation.trigger.type !== 'schedule' && !(await isInTeam(tx, run.issueId, automation.team_id))) {
    return skipped('issue_gone')
  }
  return playAll(ctx, tx, now, run, automation, owner)
}

/** automation.loop-depth, automation.loop-self */
const isLoop = ({ chain, automationId, issueId }: Run) =>
  chain.length >= automationLimits.depth ||
  chain.some((link) => link.automationId === automationId && link.issueId === issueId)

const isInTeam = async (tx: Tx, issueId: string | null, teamId: string) =>
  issueId !== null &&
  (await tx.row(sql`select 1 from issues where id = ${issueId} and team_id = ${teamId} and not personal`)) !== undefined

/**
 * The owner with the role of this moment, who stays a member until the transaction ends. Undefined if the owner is
 * neither in the team nor a manager.
 */
export async function lockOwner(
  tx: Tx,
  workspaceId: string,
  { owner_id, team_id }: Pick<Automation, 'owner_id' | 'team_id'>,
): Promise<Member | undefined> {
  const row = await tx.row<{ name: string; email: string; role: Role; inTeam: boolean }>(sql`
    select u.display_name as name, u.email, m.role,
      exists (select from team_members t where t.team_id = ${team_id} and t.user_id = m.user_id) as "inTeam"
    from memberships m join users u on u.id = m.user_id
    where m.workspace_id = ${workspaceId} and m.user_id = ${owner_id} for share of m`)
  if (!row || (row.role === 'member' && !row.inTeam)) return undefined
  const { name, email, role } = row
  return {
    kind: 'person',
    id: owner_id,
    name,
    email,
    tokenHash: Buffer.alloc(0),
    scopes: null,
    workspaceId,
    role,
    loginMethod: null,
    recent: false,
  }
}

/** Does all actions, or none of them if one is refused. */
async function playAll(ctx: Context, tx: Tx, now: Date, run: Run, automation: Stored, owner: Member): Promise<Outcome> {
  const messages = new Messages(tx)
  const chain: Chain = { automationId: automation.id, issueId: run.issueId, before: run.chain }
  const scene: Scene = {
    ctx: { ...ctx, db: ctx.db.within(messages.tx), chain },
    tx: messages.tx,
    now,
    owner,
    automation,
    lastIssues: automation.lastIssues,
    issueId: run.issueId,
    agentId: run.agentId,
  }
  const results: ActionResult[] = []
  const created: Record<number, string> = {}
  await tx.script('savepoint actions')
  try {
    await lockAgents(scene, agentIdsIn(automation))
    for (const [index, action] of automation.actions.entries()) {
      const result = await act(scene, action, index)
      if (action.type === 'create_issue' && result.subject_id) created[index] = result.subject_id
      results.push(result)
    }
    messages.send()
    return { state: 'done', actions: results, created }
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof Skipped)) throw error
    await tx.script('rollback to savepoint actions')
    if (error instanceof Skipped) return skipped(error.reason)
    const message = refusalText(error)
    const undone = results.map(({ type }) => ({ type, ok: false, subject_id: null, message: 'undone' }))
    const refused = {
      type: automation.actions[results.length]?.type ?? 'comment',
      ok: false,
      subject_id: null,
      message,
    }
    return { state: 'failed', reason: 'refused', message, actions: [...undone, refused] }
  }
}

/** The code and the message of a refusal, with the fields or the reason that it names. */
export function refusalText({ code, message, details }: ApiError): string {
  const named = Object.entries(details).map(
    ([field, value]) => `${field} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return `${code}: ${code === 'VALIDATION_ERROR' ? named.join('; ') : [message, ...named].join(' ')}`.slice(0, 1000)
}

/** Keeps the messages of a part of a transaction until it is known that this part stays. */
class Messages {
  readonly tx: Tx
  readonly #outer: Tx
  readonly #kept: [keyof Topics, string[]][] = []

  constructor(outer: Tx) {
    this.#outer = outer
    this.tx = { ...outer, afterCommit: (topic, messages) => void this.#kept.push([topic, [...messages]]) }
  }

  send() {
    for (const [topic, messages] of this.#kept) this.#outer.afterCommit(topic, messages)
  }
}
