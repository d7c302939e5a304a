import type { AgentSessionApi } from './agent-session-api.ts'
import type { Work } from './work.ts'

/** How an agent does one piece of work: by rules or with a model. It ends with a response, an error or a question. */
export interface AgentStrategy {
  work(work: Work, session: AgentSessionApi): Promise<void>
}
