/** How a turn ended. */
export type TurnEnd =
  | { end: 'finished'; stopReason: string; tokens: { input: number; output: number } | null }
  /** Of a plain command: its output. */
  | { end: 'answered'; text: string }
  | { end: 'failed'; reason: AgentReason; message: string }

export type AgentReason = 'agent_crashed' | 'agent_failed' | 'agent_no_acp' | 'agent_not_signed_in' | 'agent_bad_option'

/** The agent cannot work; `message` is for people. */
export class AgentFailure extends Error {
  readonly reason: AgentReason
  constructor(reason: AgentReason, message: string) {
    super(message)
    this.reason = reason
  }
}

/** The agent's answer to a permission request of the protocol. */
export type PermissionOutcome = { outcome: 'cancelled' } | { outcome: 'selected'; optionId: string }

export interface PermissionRequest {
  /** As the agent sent it. */
  toolCall: Record<string, unknown>
  options: { optionId: string; name: string; kind: string }[]
}

/** What an agent does during a turn. */
export interface TurnEvents {
  /** Something came from the agent. */
  alive(): void
  update(update: unknown): void
  /** Resolves when more can be taken from the agent. */
  room(): Promise<void>
  /** Output of a plain command so far. */
  output(text: string): void
  permission(request: PermissionRequest, signal: AbortSignal): Promise<PermissionOutcome>
}

/** An agent that works on prompts, one at a time: a process that speaks ACP, or a plain command. */
export interface TurnAgent {
  /** Never rejects. */
  prompt(text: string): Promise<TurnEnd>
  /** Asks the agent to end the turn, and ends its processes if it does not. The prompt then resolves. `hurry`: the runner ends. */
  cancel(hurry?: boolean): void
  /** Ends all processes of the agent. */
  end(): Promise<void>
  readonly ended: boolean
}
