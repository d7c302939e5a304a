import type { Context } from '../context.ts'
import type { AgentStrategy } from './agent-strategy.ts'
import { builtInStrategy } from './built-in/strategy.ts'
import { modelStrategy } from './model/strategy.ts'

/** Without a model the built-in agent works by rules, and personal agents fail (agent.personal-without-model). */
export function chooseStrategy(ctx: Context): AgentStrategy {
  const rules = builtInStrategy(ctx)
  if (ctx.config.model) return modelStrategy(ctx, ctx.config.model, rules)
  return { work: (work, session) => (work.agent.kind === 'deployment' ? rules : withoutModel).work(work, session) }
}

const withoutModel: AgentStrategy = {
  work: (_, session) =>
    session.fail(
      'I need a language model to work, and none is configured. The operator of this instance can set `BATON_MODEL_URL` and `BATON_MODEL`.',
      'model_not_configured',
    ),
}
