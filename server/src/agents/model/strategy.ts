import type { Config } from '../../config.ts'
import type { Context } from '../../context.ts'
import type { AgentSessionApi } from '../agent-session-api.ts'
import type { AgentStrategy } from '../agent-strategy.ts'
import type { Work } from '../work.ts'
import { ModelEndpoint } from './endpoint.ts'
import { ModelFailure } from './failure.ts'
import { ToolLoop } from './loop.ts'

/** Works with a model. If the model fails, the built-in agent continues by rules; a personal agent has no rules. */
export function modelStrategy(ctx: Context, model: NonNullable<Config['model']>, rules: AgentStrategy): AgentStrategy {
  const endpoint = new ModelEndpoint(ctx, model)
  return {
    async work(work, session) {
      if (work.attempt > 1) {
        if (await session.hasPosted(withoutModel)) return rules.work(work, session)
        if (await session.isAnswered()) return
      }
      await session.thought('begun', 'Thinking about it.', 'ephemeral')
      try {
        await new ToolLoop(ctx, endpoint, work, session).run()
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error
        if (work.agent.kind === 'personal' || error.reason === 'model_limit_reached') return giveUp(session, error)
        await continueByRules(work, session, rules, error)
      }
    },
  }
}

const withoutModel = 'without model'

async function continueByRules(work: Work, session: AgentSessionApi, rules: AgentStrategy, { message }: ModelFailure) {
  await session.thought(withoutModel, `The language model ${message}, so this time I'll work by rules, without it.`)
  await rules.work(work, session)
}

const giveUp = (session: AgentSessionApi, { reason, message }: ModelFailure) =>
  session.fail(
    reason === 'model_limit_reached'
      ? `${message}, so I stopped. My actions so far are above. Write to me to continue, or give me a smaller task.`
      : `The language model ${message}, so I can't continue. My actions so far are above. Write to me to try again. If it keeps failing, contact the operator of this instance.`,
    reason,
  )
