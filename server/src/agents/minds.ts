import type { Context } from '../context.ts'
import { builtInMind } from './built-in/mind.ts'
import type { Mind } from './mind.ts'

/** The built-in agent knows its rules; a personal one has nothing but its instructions, and nobody to read them. */
export function mindOf(ctx: Context): Mind {
  const builtIn = builtInMind(ctx)
  return { work: (work, hands) => (work.agent.kind === 'deployment' ? builtIn : withoutModel).work(work, hands) }
}

const withoutModel: Mind = {
  work: (_, hands) =>
    hands.fail(
      'I need a language model to work, and this instance has none. Whoever runs it can set `BATON_MODEL_URL` and `BATON_MODEL`.',
      'model_not_configured',
    ),
}
