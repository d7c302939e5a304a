import type { Config } from '../../config.ts'
import type { Context } from '../../context.ts'
import type { Hands, Mind, Work } from '../mind.ts'
import { ModelEndpoint } from './endpoint.ts'
import { ModelFailure } from './failure.ts'
import { ToolLoop } from './loop.ts'

/** Thinks with a model. The built-in agent goes on by its rules where that fails; a personal one has none. */
export function modelMind(ctx: Context, model: NonNullable<Config['model']>, rules: Mind): Mind {
  const endpoint = new ModelEndpoint(ctx, model)
  return {
    async work(work, hands) {
      if (work.attempt > 1) {
        if (await hands.said(withoutModel)) return rules.work(work, hands)
        if (await hands.isAnswered()) return
      }
      await hands.thought('begun', 'Thinking about it.', 'passing')
      try {
        await new ToolLoop(ctx, endpoint, work, hands).run()
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error
        if (work.agent.kind === 'personal' || error.reason === 'model_limit_reached') return giveUp(hands, error)
        await goOnByRules(work, hands, rules, error)
      }
    },
  }
}

const withoutModel = 'without model'

async function goOnByRules(work: Work, hands: Hands, rules: Mind, { message }: ModelFailure) {
  await hands.thought(withoutModel, `The language model ${message}, so this time I work by my rules, without it.`)
  await rules.work(work, hands)
}

const giveUp = (hands: Hands, { reason, message }: ModelFailure) =>
  hands.fail(
    reason === 'model_limit_reached'
      ? `${message}, so I stopped. What I did until then is above. Write to me to go on, or ask for less at once.`
      : `The language model ${message}, so I cannot go on. What I did until then is above. Write to me to try again; if it stays like this, tell whoever runs this instance.`,
    reason,
  )
