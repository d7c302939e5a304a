import type { Tx } from './db/database.ts'
import type { Cause } from './trace.ts'

/** The automation that makes a change, and how it came to run. */
export interface Chain {
  automationId: string
  /** The issue that it runs for. */
  issueId: string | null
  /** Automations that ran before it, the first one first, each with the issue that it ran for. */
  before: readonly { automationId: string; issueId: string | null }[]
}

/** The automations of a chain, with the one that acts as the last. */
export const linksOf = ({ automationId, issueId, before }: Chain) => [...before, { automationId, issueId }]

/** The part of a unit of work that hooks get. `caller` is null where the service itself acts. */
export interface HookUnit {
  tx: Tx
  now: Date
  caller: unknown
  hooks?: Hooks | undefined
  chain?: Chain | undefined
  cause?: Cause | undefined
}

/** An event of an issue that was recorded. */
export interface RecordedChange {
  eventId: string
  action: 'create' | 'update' | 'remove'
  actor: { id: string; type: 'user' | 'application' | 'system'; name: string } | null
  /** The issue after the change, in the format of events. */
  data: { id: string } & Record<string, unknown>
  /** The previous values of the fields that changed. */
  updatedFrom?: Record<string, unknown> | undefined
}

export interface HookSession {
  id: string
  workspaceId: string
  agentId: string
  ownerId: string | null
  issueId: string | null
  creatorId: string
  openedByAgent: boolean
}

/**
 * `finished`, `failed` and `asked` are a response, an error and an elicitation. `undelegated` is a stop because the
 * delegation ended, `message` a person's message.
 */
export interface SessionOutcome {
  kind: 'finished' | 'failed' | 'asked' | 'stopped' | 'undelegated' | 'stale' | 'message'
  /** Of the activity; of the last one where the outcome is none. */
  seq: number
  /** The person had stopped the session before. */
  wasStopping: boolean
}

/**
 * Called in the transaction of a change by what lies below the features that react to it. `createApp` fills them. Each
 * sends one statement where nothing reacts.
 */
export interface Hooks {
  recorded(unit: HookUnit, workspaceId: string, changes: readonly RecordedChange[]): Promise<void>
  sessionOutcome(unit: HookUnit, session: HookSession, outcome: SessionOutcome): Promise<void>
  /** Sessions ended without their agent: it was uninstalled, or lost access. Their `end_reason` says which. */
  sessionsEnded(unit: HookUnit, sessionIds: readonly string[]): Promise<void>
  /** An issue was marked as a duplicate, or is no longer one; no event says so. */
  duplicateMarked(unit: HookUnit, issueId: string): Promise<void>
  /** An agent was uninstalled or deleted. */
  agentGone(unit: HookUnit, agentId: string): Promise<void>
  memberGone(unit: HookUnit, workspaceId: string, userId: string): Promise<void>
}

/** The hooks of several features as one, called in this order. */
export function allOf(features: readonly Partial<Hooks>[]): Hooks {
  const call =
    <Name extends keyof Hooks>(name: Name) =>
    async (...args: Parameters<Hooks[Name]>) => {
      for (const feature of features)
        await (feature[name] as ((...args: unknown[]) => Promise<void>) | undefined)?.(...args)
    }
  return {
    recorded: call('recorded'),
    sessionOutcome: call('sessionOutcome'),
    sessionsEnded: call('sessionsEnded'),
    duplicateMarked: call('duplicateMarked'),
    agentGone: call('agentGone'),
    memberGone: call('memberGone'),
  }
}
