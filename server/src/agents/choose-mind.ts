import type { Context } from '../context.ts'
import { builtInMind } from './built-in/mind.ts'
import type { Mind } from './mind.ts'
import { modelMind } from './model/mind.ts'

/** Without a model the built-in agent has its rules; a personal one has instructions, and nobody to read them. */
export function mindOf(ctx: Context): Mind {
  const rules = builtInMind(ctx)
  if (ctx.config.model) return modelMind(ctx, ctx.config.model, rules)
  return { work: (work, hands) => (work.agent.kind === 'deployment' ? rules : withoutModel).work(work, hands) }
}

const withoutModel: Mind = {
  work: (_, hands) =>
    hands.fail(
      'I need a language model to work, and this instance has none. Whoever runs it can set `BATON_MODEL_URL` and `BATON_MODEL`.',
      'model_not_configured',
    ),
}
