import type { Context } from '../../context.ts'
import type { Mind } from '../mind.ts'

export const builtInMind = (_: Context): Mind => ({
  work: (_, hands) => hands.respond('I am here.'),
})
