import type { AgentActivity, PlanItem } from '@baton/protocol'
import type { SessionContext } from '../agent-sessions/context/prompt-context.ts'
import type { App } from '../http/caller.ts'
import type { Outcome } from '../tools/call.ts'
import type { Tool } from '../tools/tool.ts'

/** Something for an agent inside the service to do: a session was opened for it, or a person wrote in one. */
export interface Work {
  id: string
  sessionId: string
  workspaceId: string
  /** What it is about: one of the two. */
  issueId: string | null
  projectId: string | null
  agent: { id: string; name: string; kind: 'deployment' | 'personal'; instructions: string }
  /** The comment that it began with, if that is still there. */
  commentId: string | null
  cause: { kind: 'delegation' } | { kind: 'mention' } | { kind: 'message'; message: AgentActivity }
  /** 1, or more when somebody began and did not come to an end. What was said then is said already. */
  attempt: number
}

export interface Option {
  value: string
  label?: string
  description?: string
}

/**
 * What an agent works with. Everything goes through the one door as the agent itself, with the access of that moment.
 * Each throws when the work is over for the agent: it was stopped, or lost its place.
 */
export interface Hands {
  /** Aborted when a person pressed Stop, or the process ends. */
  readonly aborted: AbortSignal
  /** `step` names what is said within this piece of work: said again under the same name, it is not said twice. */
  thought(step: string, body: string, passing?: 'passing'): Promise<void>
  action(step: string, action: string, parameter: string, result?: string): Promise<void>
  /** What it is about to do, shown until it says more: whoever takes over knows that it may have been done. */
  announce(step: string, action: string, parameter: string): Promise<void>
  /** Whether something was said under this name, in this attempt or one before. */
  said(step: string): Promise<boolean>
  /** Whether there was a last word or a question. */
  isAnswered(): Promise<boolean>
  plan(items: PlanItem[]): Promise<void>
  /** One question for each piece of work. What a person answers is a piece of its own. */
  ask(body: string, options?: Option[]): Promise<void>
  /** The last word, unless it is a question: one of these two, and the first of them holds. */
  respond(body: string): Promise<void>
  fail(body: string, reasonCode: string): Promise<void>
  /** A comment in its own name; one that it has made there with the same words is not made again. */
  comment(target: { type: 'issue' | 'project'; id: string }, text: string): Promise<void>
  /** What it can use besides. One that it may not use is found by its name too, and its use is refused. */
  readonly tools: readonly Tool[]
  toolNamed(name: string): Tool | undefined
  /** Who takes work over makes no comment again that was made with the same words. */
  call(tool: Tool, input: Record<string, unknown>): Promise<Outcome>
  /** What an app would have been told when the session began, as it is now. */
  context(): Promise<SessionContext>
  /** What has been said in the session, oldest first. */
  conversation(): Promise<AgentActivity[]>
  pause(ms: number): Promise<void>
  /** As whom it acts at this moment, for statements that ask what is in reach. */
  caller(): Promise<App>
}

/** Thinks about one piece of work, and ends it with a last word. */
export interface Mind {
  work(work: Work, hands: Hands): Promise<void>
}
