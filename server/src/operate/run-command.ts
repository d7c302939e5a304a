import { ConfigError } from '../config.ts'
import { ApiError } from '../http/errors.ts'
import { type Answer, type Command, exitCodes, Refusal, UsageError } from './command.ts'

/** Runs a command. What it throws on purpose becomes its answer; a defect is thrown on. */
export async function answerOf(work: () => Promise<Answer>): Promise<Required<Answer>> {
  try {
    return { exit: exitCodes.done, ...(await work()) }
  } catch (error) {
    const exit = exitOf(error)
    if (exit === undefined) throw error
    return problem(exit, messageOf(error as Error))
  }
}

export const problem = (exit: Answer['exit'] & number, message: string): Required<Answer> => ({
  exit,
  json: { error: message },
  text: [message],
})

function exitOf(error: unknown) {
  if (error instanceof UsageError) return exitCodes.usage
  if (error instanceof Refusal || error instanceof ApiError) return exitCodes.refused
  return error instanceof ConfigError ? exitCodes.failed : undefined
}

/** The fields that a verb refused are named by its details. */
function messageOf(error: Error): string {
  if (!(error instanceof ApiError) || error.code !== 'VALIDATION_ERROR') return error.message
  return Object.entries(error.details)
    .map(([field, reason]) => `${field} ${reason}`)
    .join('; ')
}

export const findCommand = (commands: readonly Command[], name: string | undefined) =>
  commands.find((command) => command.name === name)
